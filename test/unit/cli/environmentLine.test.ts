import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { environmentLine } from '../../../src/cli/envCommand';

function pythonPathAfter(line: string, before: string | undefined): string {
  const env = { PATH: process.env['PATH'], ...(before === undefined ? {} : { PYTHONPATH: before }) };
  const { stdout } = spawnSync('sh', ['-c', `${line}\nprintf %s "$PYTHONPATH"`], { env, encoding: 'utf8' });
  return stdout;
}

describe('environmentLine', () => {
  it.each([
    [undefined, "/opt/it's here/agent"],
    ['', "/opt/it's here/agent"],
    ['/a:/b', "/opt/it's here/agent:/a:/b"],
  ])('makes sh put the folder before PYTHONPATH=%s', (before, after) => {
    expect(pythonPathAfter(environmentLine('sh', "/opt/it's here/agent"), before)).toBe(after);
  });
});
