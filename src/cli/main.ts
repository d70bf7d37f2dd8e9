import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { commandHelp, overview } from './help';
import { useLanguage } from './language';
import { UsageError } from './usageError';

/** `dist`: the agent and the simulator lie beside this file. */
const home = __dirname;

async function run(command: string, args: string[]): Promise<number> {
  switch (command) {
    case 'run':
      return (await import('./runCommand')).runCommand(args, home);
    case 'env':
      return (await import('./envCommand')).envCommand(args, home);
    case 'simulate':
      return (await import('./simulateCommand')).simulateCommand(args, home);
    case 'watch':
      return (await import('./watchCommand')).watchCommand(args);
    case 'check':
      return (await import('./check/command')).checkCommand(args, home);
    case 'devices':
      return (await import('./devicesCommand')).devicesCommand(args, home);
    case 'free':
      return (await import('./freeCommand')).freeCommand(args);
    case 'explain':
    case 'snapshot':
      throw new UsageError(l10n.t('"vram-lens {0}" is not there yet in this version.', command));
    default:
      throw new UsageError(l10n.t('There is no command "{0}"; "vram-lens --help" lists them.', command));
  }
}

async function main(argv: string[]): Promise<number> {
  useLanguage(process.env, path.dirname(home));
  const [command, ...args] = argv;
  if (command === undefined || command === '--help' || command === '-h') {
    process.stdout.write(`${overview()}\n`);
    return command === undefined ? 2 : 0;
  }
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const help = own.includes('--help') || own.includes('-h') ? commandHelp(command) : null;
  if (help !== null) {
    process.stdout.write(`${help}\n`);
    return 0;
  }
  return run(command, args);
}

// A reader that went away (`| head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const sentence = error instanceof UsageError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`vram-lens: ${sentence}\n`);
    process.exitCode = 2;
  },
);
