import { afterEach, expect, it } from 'vitest';
import { Script } from './script';

let script: Script;
afterEach(() => script.killAll());

const startsStubborn = 'test/commands/startsStubborn.mjs';

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('leaves nothing running after %s', async (signal) => {
  script = new Script([startsStubborn, 'wait']);
  await script.says('there');
  expect(script.marked().some((line) => line.startsWith('sleep'))).toBe(true);
  script.signal(signal);
  await script.code();
  expect(await script.leftBehind()).toEqual([]);
});

it.each(['end', 'throw'])('leaves nothing running when the script itself ends (%s)', async (how) => {
  script = new Script([startsStubborn, how]);
  await script.says('there');
  await script.code();
  expect(await script.leftBehind()).toEqual([]);
});
