import * as l10n from '@vscode/l10n';
import { oneOf, parse, positiveInteger } from '../arguments';
import { UsageError } from '../usageError';
import { rulesOf } from './rules';

export type Format = 'text' | 'json' | 'sarif' | 'github';

export interface Options {
  paths: readonly string[];
  fix: boolean;
  unsafe: boolean;
  diff: boolean;
  select: string[] | null;
  ignore: string[] | null;
  baseline: string | null;
  writeBaseline: boolean;
  exitZero: boolean;
  /** Null: as many as fit the machine. */
  jobs: number | null;
  format: Format;
  explain: string | null;
}

/** @throws UsageError */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals: paths } = parse(withBaselineFile(args), {
    ...{ fix: { type: 'boolean' }, 'unsafe-fixes': { type: 'boolean' }, diff: { type: 'boolean' } },
    ...{ select: { type: 'string' }, ignore: { type: 'string' }, 'exit-zero': { type: 'boolean' } },
    ...{ baseline: { type: 'string' }, 'write-baseline': { type: 'boolean' }, jobs: { type: 'string' } },
    ...{ format: { type: 'string' }, explain: { type: 'string' } },
  });
  const options: Options = {
    ...{ paths, fix: values.fix === true, unsafe: values['unsafe-fixes'] === true, diff: values.diff === true },
    ...{ select: rulesOf(values.select), ignore: rulesOf(values.ignore), baseline: values.baseline ?? null },
    ...{ writeBaseline: values['write-baseline'] === true, exitZero: values['exit-zero'] === true },
    jobs: positiveInteger(values.jobs, '--jobs'),
    format: oneOf(values.format, '--format', ['text', 'json', 'sarif', 'github']),
    explain: values.explain ?? null,
  };
  const mistake = options.explain === null ? mistakeIn(options) : null;
  if (mistake !== null) throw new UsageError(mistake);
  return options;
}

function mistakeIn({ paths, fix, unsafe, diff, writeBaseline, format }: Options): string | null {
  if (paths.length === 0) return l10n.t('Which file or folder? For example: vram-lens check train.py');
  if (unsafe && !fix && !diff) return l10n.t('--unsafe-fixes needs --fix or --diff.');
  if (writeBaseline && (fix || diff)) return l10n.t('--write-baseline and --fix or --diff exclude each other.');
  if (fix && !diff && paths.includes('-') && format !== 'text') {
    return l10n.t('With "-", --fix writes the fixed text to standard output, so --format has to be text.');
  }
  return null;
}

/** `--write-baseline=FILE` and `--write-baseline FILE.json` are short for the two options. */
function withBaselineFile(args: readonly string[]): string[] {
  return args.flatMap((argument, index) => {
    const file = /^--write-baseline=(.+)$/s.exec(argument)?.[1];
    if (file !== undefined) return ['--write-baseline', '--baseline', file];
    const isFile = args[index - 1] === '--write-baseline' && argument.endsWith('.json');
    return isFile ? ['--baseline', argument] : [argument];
  });
}
