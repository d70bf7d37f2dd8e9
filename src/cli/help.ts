import * as l10n from '@vscode/l10n';
import { largestNotebook, largestPython } from './check/limits';

/** One line per command for the overview. */
function commandLines(): string {
  const lines: [string, string][] = [
    ['run', l10n.t('Runs a command with the memory agent in its environment.')],
    ['env', l10n.t('Prints the lines that put the memory agent into the current shell.')],
    ['simulate', l10n.t('Runs a script on a simulated GPU and says whether it fits.')],
    ['watch', l10n.t('Follows the GPU memory of every session, live.')],
    ['devices', l10n.t("Shows the driver's view of devices and processes.")],
    ['check', l10n.t('Finds tensors that leak in training scripts, and fixes them.')],
    ['free', l10n.t('Returns the cache of running sessions to the driver.')],
  ];
  return lines.map(([name, text]) => `  ${name.padEnd(10)}${text}`).join('\n');
}

export function overview(): string {
  return [
    l10n.t('VRAM Lens shows where the GPU memory of PyTorch trainings is.'),
    '',
    'vram-lens COMMAND [OPTIONS]',
    '',
    commandLines(),
    '',
    l10n.t('"vram-lens COMMAND --help" says more about a command.'),
  ].join('\n');
}

interface Usage {
  usage: string;
  example: string;
  options: () => [string, string][];
  /** Sentences after the options. */
  notes?: () => string[];
}

const usages: Record<string, Usage> = {
  run: {
    usage: 'vram-lens run [--simulate SIZE[,SIZE…]] [--quiet] -- COMMAND …',
    example: 'vram-lens run -- torchrun --nproc-per-node 2 train.py',
    options: () => [
      ['--simulate SIZE', l10n.t('on simulated GPUs of these sizes, for example 24GiB or 24GiB,24GiB')],
      ['--quiet', l10n.t('no summary at the end')],
    ],
  },
  env: {
    usage: 'vram-lens env [--shell sh|fish|powershell]',
    example: 'eval "$(vram-lens env)"',
    options: () => [['--shell NAME', l10n.t('the shell that will read the lines; else the one in SHELL')]],
  },
  simulate: {
    usage: 'vram-lens simulate [--gpu SIZE[,SIZE…]] [--python PATH] [--format text|json] SCRIPT [-- ARGS…]',
    example: 'vram-lens simulate --gpu 24GiB train.py -- --batch-size 64',
    options: () => [
      ['--gpu SIZE', l10n.t('memory of the simulated GPUs, 24GiB if not given')],
      ['--python PATH', l10n.t("the Python to use; else the active virtual environment's, else python3")],
      ['--format FORMAT', l10n.t('text, or json for scripts')],
    ],
  },
  watch: {
    usage: 'vram-lens watch [--pid N] [--hz H] [--for SECONDS] [--record FILE] [--format text|jsonl]',
    example: 'vram-lens watch --format jsonl --for 60 --record night.jsonl',
    options: () => [
      ['--pid N', l10n.t('only this process; ends when it ends')],
      ['--hz H', l10n.t('samples per second, 0.2 to 10')],
      ['--for SECONDS', l10n.t('ends after so many seconds')],
      ['--record FILE', l10n.t('also writes every line of the jsonl form to a file')],
      ['--format FORMAT', l10n.t('text (a live table), or jsonl for scripts')],
    ],
  },
  devices: {
    usage: 'vram-lens devices [--watch] [--format text|json]',
    example: 'vram-lens devices --format json',
    options: () => [
      ['--watch', l10n.t('again every second, until Ctrl-C')],
      ['--format FORMAT', l10n.t('text, or json for scripts')],
    ],
  },
  check: {
    usage:
      'vram-lens check PATH… [--fix [--unsafe-fixes]] [--diff] [--select R,…] [--ignore R,…] [--baseline FILE] [--exit-zero] [--jobs N] [--format text|json|sarif|github] [--explain RULE]',
    example: 'vram-lens check train.py --diff',
    options: () => [
      ['PATH', l10n.t('Python files, notebooks, folders, or - for standard input')],
      ['--fix', l10n.t('applies the safe fixes')],
      ['--unsafe-fixes', l10n.t('with --fix or --diff: also those that change what is printed or used')],
      ['--diff', l10n.t('shows what --fix would change, and changes nothing')],
      ['--select R,…', l10n.t('only these rules')],
      ['--ignore R,…', l10n.t('not these rules')],
      ['--baseline FILE', l10n.t('hides the findings that the file records')],
      ['--write-baseline', l10n.t('records the findings in the file of --baseline')],
      ['--exit-zero', l10n.t('exit code 0 also with findings')],
      ['--jobs N', l10n.t('worker threads; 1: none; else as many as fit the machine')],
      ['--format FORMAT', l10n.t('text, json, sarif or github')],
      ['--explain RULE', l10n.t('says what a rule finds, what that costs and how to fix it')],
    ],
    notes: () => [
      l10n.t(
        'In folders these are left out unless named: what .gitignore ignores, hidden files and folders, links, virtual environments, node_modules, site-packages, __pycache__.',
      ),
      l10n.t(
        'Exit code: 0 nothing found, 1 findings, 2 when a file could not be read, named or in a folder: binary, undecodable, malformed, or larger than {0} MiB ({1} MiB for a notebook). A notebook in another language is skipped and no failure.',
        largestPython,
        largestNotebook,
      ),
      l10n.t(
        'A comment "# vram-lens: ignore[rule]" at the end of a line silences it there, "# vram-lens: ignore-file" on a line of its own in the whole file.',
      ),
      l10n.t(
        'The table [tool.vram-lens] of the nearest pyproject.toml has select, ignore, exclude (patterns as in .gitignore) and baseline; the options here replace it.',
      ),
    ],
  },
  free: {
    usage: 'vram-lens free [--pid N | --all] [--format text|json]',
    example: 'vram-lens free --all',
    options: () => [
      ['--pid N', l10n.t('only this process')],
      ['--all', l10n.t('every session of yours')],
      ['--format FORMAT', l10n.t('text, or json for scripts')],
    ],
  },
};

/** Help of one command; null when there is no such command. */
export function commandHelp(command: string): string | null {
  const help = usages[command];
  if (help === undefined) return null;
  const options = help.options().map(([option, text]) => `  ${option.padEnd(18)}${text}`);
  const notes = (help.notes?.() ?? []).flatMap((note) => ['', note]);
  return [help.usage, '', ...options, ...notes, '', l10n.t('Example:'), `  ${help.example}`].join('\n');
}
