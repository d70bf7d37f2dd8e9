import { describe, expect, it } from 'vitest';
import { StepTrend } from '../../../src/sessions/stepTrend';

function trend(count: number, used: (step: number) => number): StepTrend {
  const steps = new StepTrend();
  for (let step = 1; step <= count; step++) steps.add({ timeMs: step * 500, step, usedBytes: used(step) });
  return steps;
}

describe('StepTrend', () => {
  it('counts steps per second, thinned notifications included', () => {
    const steps = new StepTrend();
    for (let i = 1; i <= 20; i++) steps.add({ timeMs: i * 100, step: i * 5, usedBytes: 0 });
    expect(steps.stepsPerSecond(2000)).toBeCloseTo(50);
  });

  it('knows no pace before the second step and after a long silence', () => {
    expect(trend(1, () => 0).stepsPerSecond(600)).toBeNull();
    expect(trend(10, () => 0).stepsPerSecond(5500)).toBeCloseTo(2);
    expect(trend(10, () => 0).stepsPerSecond(60_000)).toBeNull();
  });

  it('measures growth and the steps left', () => {
    expect(trend(50, (step) => 1000 + step * 10).trend(2500)).toEqual({ growthBytesPerStep: 10, oomInSteps: 100 });
  });

  it('is not fooled by the first steps or by a peak now and then', () => {
    const used = (step: number): number => (step < 3 ? 100 : 5000) + (step % 20 === 0 ? 9000 : 0);
    expect(trend(60, used).trend(10_000)).toEqual({ growthBytesPerStep: 0, oomInSteps: null });
  });

  it('says nothing before enough steps, and forgets a run that began again', () => {
    const steps = trend(12, (step) => step * 10);
    expect(steps.trend(1000)).toEqual({ growthBytesPerStep: null, oomInSteps: null });
    const longer = trend(40, (step) => step * 10);
    longer.add({ timeMs: 90_000, step: 1, usedBytes: 0 });
    expect(longer.trend(1000).growthBytesPerStep).toBeNull();
  });
});
