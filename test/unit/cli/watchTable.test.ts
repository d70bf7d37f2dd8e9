import { describe, expect, it } from 'vitest';
import { endRecord, sampleRecord, sessionRecord, stepRecord } from '../../../src/cli/watchRecords';
import { watchTable } from '../../../src/cli/watchTable';
import { Session } from '../../../src/sessions/session';
import { exampleHello, exampleSample } from '../sessions/fakeAgent';

const MiB = 1024 ** 2;
const origin = { host: 'h', boot: 'b', pidNamespace: '1', pid: 42, start: '9' };

function session(): Session {
  const devices = [{ index: 0, uuid: 'SIM-0', name: 'Simulated GPU', totalBytes: 1000 * MiB }];
  const one = new Session(origin, exampleHello({ pid: 42, devices }), 1000);
  one.addSample(
    { ...exampleSample, usedBytes: 300 * MiB, reservedBytes: 500 * MiB, strandedBytes: 0, pendingBytes: 0 },
    1000,
  );
  return one;
}

describe('watchTable', () => {
  it('shows used, cached and reserved, and says what is simulated', () => {
    const [head, row] = watchTable([session()], 1000);
    expect(head?.split(/ {2,}/)).toEqual([
      'PID',
      'Script',
      'Device',
      'Used',
      'Cached',
      'Reserved',
      'Step',
      'Steps/s',
      'State',
    ]);
    expect(row?.split(/ {2,}/)).toEqual([
      ...['42', 'train.py', '0 Simulated GPU (simulated)', '300.0 MiB', '200.0 MiB', '500.0 MiB', '7', '–', 'training'],
    ]);
  });

  it('shows no memory of a session that ended, and says that it was killed', () => {
    const one = session();
    one.end(2000, true);
    expect(watchTable([one], 2000)[1]?.split(/ {2,}/).slice(3)).toEqual(['–', '–', '–', '7', '–', 'killed']);
  });

  it('says since when a session is silent', () => {
    const one = session();
    one.silentSinceMs = 1000;
    expect(watchTable([one], 9000)[1]).toMatch(/no answer for 8 s$/);
  });

  it('says what to do when there is no session', () => {
    expect(watchTable([], 0)).toHaveLength(1);
  });
});

describe('the lines of watch --format jsonl', () => {
  it('begin with kind and pid, and carry the words of CLI.md', () => {
    const one = session();
    expect(Object.keys(sessionRecord(one)).slice(0, 2)).toEqual(['kind', 'pid']);
    expect(sessionRecord(one)).toMatchObject({
      script: '/work/train.py',
      simulated: true,
      rank: null,
      worldSize: null,
    });
    expect(sampleRecord(one, exampleSample)).toMatchObject({ kind: 'sample', pid: 42, device: 0, simulated: true });
    one.end(5000, false);
    expect(endRecord(one)).toEqual({ kind: 'end', pid: 42, timeMs: 5000, exit: 'unknown' });
  });

  it('foresee an out-of-memory by what is left beside stranded memory', () => {
    const one = session();
    one.addSample(
      { ...exampleSample, usedBytes: 300 * MiB, reservedBytes: 500 * MiB, strandedBytes: 100 * MiB, pendingBytes: 0 },
      1000,
    );
    const steps = Array.from({ length: 40 }, (_, i) => ({ timeMs: i * 100, step: i + 1, usedBytes: (i + 1) * MiB }));
    for (const step of steps) one.addStep(step, 1000);
    expect(stepRecord(one, steps[39]!)).toMatchObject({ step: 40, growthBytesPerStep: MiB, oomInSteps: 860 });
  });
});
