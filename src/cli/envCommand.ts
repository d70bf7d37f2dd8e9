import path from 'node:path';
import { pythonFolders } from '../sessions/environment';
import { noPositionals, oneOf, parse } from './arguments';

type Shell = 'sh' | 'fish' | 'powershell';

/** `vram-lens env`. */
export function envCommand(args: string[], home: string): number {
  const { values, positionals } = parse(args, { shell: { type: 'string' } });
  noPositionals(positionals);
  const usual: Shell =
    process.platform === 'win32' ? 'powershell' : /fish$/.test(process.env['SHELL'] ?? '') ? 'fish' : 'sh';
  const shell = oneOf<Shell>(values.shell ?? usual, '--shell', ['sh', 'fish', 'powershell']);
  const folders = pythonFolders(home).join(path.delimiter);
  process.stdout.write(`${environmentLine(shell, folders)}\n`);
  return 0;
}

/** A line that puts `folders` before PYTHONPATH without ever making an empty entry (Python reads one as the current folder). */
export function environmentLine(shell: Shell, folders: string): string {
  switch (shell) {
    case 'sh':
      return `export PYTHONPATH='${folders.replaceAll("'", `'\\''`)}'"\${PYTHONPATH:+:$PYTHONPATH}"`;
    case 'fish':
      return `set -gx --path PYTHONPATH '${folders.replace(/[\\']/g, '\\$&')}' (string match -v '' -- $PYTHONPATH)`;
    case 'powershell':
      return `$env:PYTHONPATH = '${folders.replaceAll("'", "''")}' + $(if ($env:PYTHONPATH) { [IO.Path]::PathSeparator + $env:PYTHONPATH })`;
  }
}
