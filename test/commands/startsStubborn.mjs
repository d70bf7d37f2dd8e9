// For processes.test.ts: starts a process that ignores SIGTERM, in a session of its own, as terminals in VS Code are.
// Argument: `wait` to go on for ever, `end` to end, `throw` to fail, once that process is there.
import { start } from '../../scripts/run/processes.mjs';

const child = start('sh', ['-c', `setsid sh -c 'trap "" TERM HUP; echo there; exec sleep 1000' & wait`], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
child.stdout.on('data', (text) => {
  process.stdout.write(text);
  if (process.argv[2] === 'end') process.exit(0);
  if (process.argv[2] === 'throw') throw new Error('as asked');
});
