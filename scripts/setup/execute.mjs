import { spawn, spawnSync } from 'node:child_process';
import { Missing } from './missing.mjs';

/** npm is a script of its own on Windows. */
const isWindows = process.platform === 'win32';

/** Where `command` answers `args` with exit code 0: its standard output, trimmed. Otherwise null. */
export function ask(command, args, options = {}) {
  const answer = spawnSync(command, args, { encoding: 'utf8', timeout: 60_000, ...options });
  return answer.status === 0 ? answer.stdout.trim() : null;
}

/**
 * Runs a set-up command to its end without showing its output.
 * @throws Missing with the sentence `failure` and the ends of the output when it does not end well.
 */
export function execute(command, args, { failure, ...options }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: isWindows && command === 'npm',
      ...options,
    });
    let output = '';
    const keep = (text) => (output += text);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => reject(new Missing(`${failure} (${error.message})`)));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Missing(`${failure}\n${ends(output.trim().split('\n')).join('\n')}`));
    });
  });
}

/** npm says the reason first and then much else; compilers and Python say it last. */
function ends(lines) {
  return lines.length <= 40 ? lines : [...lines.slice(0, 10), '…', ...lines.slice(-29)];
}
