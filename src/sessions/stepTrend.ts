import type { Step } from '../shared/agentProtocol';

/** Steps looked back on. Pairwise slopes of 64 points are 2,016 divisions: nothing at ten steps a second. */
const window = 64;
/** The first steps create optimizer state and fill caches: growth that does not go on. */
const warmUpSteps = 3;
const enoughSteps = 10;
/** Pauses longer than this (evaluation, checkpoint) are not counted into the pace. */
const paceWindowMs = 10_000;

export interface Trend {
  /** Median growth of used bytes per step; null before enough steps. */
  growthBytesPerStep: number | null;
  /** Steps until used reaches `limit`; null when memory does not grow. */
  oomInSteps: number | null;
}

/** Pace and growth of one session, from its (perhaps thinned) step notifications. */
export class StepTrend {
  private steps: Step[] = [];

  add(step: Step): void {
    const newest = this.steps.at(-1);
    if (newest !== undefined && step.step <= newest.step) this.steps = [];
    this.steps.push(step);
    if (this.steps.length > window) this.steps.shift();
  }

  /** Steps per second over the last seconds; null before two steps or when the last is long ago. */
  stepsPerSecond(nowMs: number): number | null {
    const newest = this.steps.at(-1);
    if (newest === undefined) return null;
    const oldest = this.steps.find((step) => step.timeMs >= newest.timeMs - paceWindowMs);
    if (oldest === undefined || oldest === newest || newest.timeMs <= oldest.timeMs) return null;
    const pace = ((newest.step - oldest.step) * 1000) / (newest.timeMs - oldest.timeMs);
    // Nothing for ten usual steps and ten seconds: it does something else now.
    const silentMs = nowMs - newest.timeMs;
    return silentMs > paceWindowMs && silentMs > 10_000 / pace ? null : pace;
  }

  /** Growth per step by the median of pairwise slopes (Theil–Sen): a checkpoint's or evaluation's peak moves it little. */
  trend(limitBytes: number | null): Trend {
    const steps = this.steps.filter((step) => step.step > warmUpSteps);
    const newest = steps.at(-1);
    if (newest === undefined || steps.length < enoughSteps) return { growthBytesPerStep: null, oomInSteps: null };
    const slopes: number[] = [];
    for (let i = 0; i < steps.length; i++) {
      for (let j = i + 1; j < steps.length; j++) {
        const a = steps[i]!;
        const b = steps[j]!;
        slopes.push((b.usedBytes - a.usedBytes) / (b.step - a.step));
      }
    }
    slopes.sort((a, b) => a - b);
    const middle = slopes.length >> 1;
    const median = slopes.length % 2 === 1 ? slopes[middle]! : (slopes[middle - 1]! + slopes[middle]!) / 2;
    const growthBytesPerStep = Math.round(median);
    const rises = growthBytesPerStep > 0 && limitBytes !== null;
    return {
      growthBytesPerStep,
      oomInSteps: rises ? Math.max(0, Math.floor((limitBytes - newest.usedBytes) / growthBytesPerStep)) : null,
    };
  }
}
