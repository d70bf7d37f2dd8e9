import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellLine } from '../../../src/extension/shellLine';

describe('shellLine', () => {
  it('gives a POSIX shell every word as it is', () => {
    const words = ['/opt/my python/bin/python', 'it\'s $HOME `x` "y".py', '训练.py', '--lr=1e-3', '*'];
    const { stdout } = spawnSync('sh', ['-c', shellLine(['printf', '%s\\n', ...words], '/bin/bash')], {
      encoding: 'utf8',
    });
    expect(stdout).toBe(`${words.join('\n')}\n`);
  });

  it('calls a quoted program in PowerShell, and uses double quotes in cmd', () => {
    const words = ['C:\\my python\\python.exe', "it's.py"];
    expect(shellLine(words, 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe')).toBe(
      "& 'C:\\my python\\python.exe' 'it''s.py'",
    );
    expect(shellLine(words, 'C:\\Windows\\System32\\cmd.exe')).toBe('"C:\\my python\\python.exe" "it\'s.py"');
  });
});
