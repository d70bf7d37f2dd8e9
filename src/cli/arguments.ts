import { parseArgs, type ParseArgsConfig } from 'node:util';
import * as l10n from '@vscode/l10n';
import { parseSizes } from '../shared/sizes';
import { UsageError } from './usageError';

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<T extends Options> = ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>>;

/** `parseArgs` whose complaints are ours, in the user's language. */
export function parse<T extends Options>(args: string[], options: T): Parsed<T> {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(l10n.t('Bad arguments: {0}', error instanceof Error ? error.message : String(error)));
  }
}

/** A whole number above zero, or null when the option is absent. */
export function positiveInteger(text: string | undefined, option: string): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError(l10n.t('{0} needs a whole number above zero.', option));
  return Number(text);
}

/** A number from `least` to `most`, or null when the option is absent. */
export function numberBetween(text: string | undefined, option: string, least: number, most: number): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most)) {
    throw new UsageError(l10n.t('{0} needs a number from {1} to {2}.', option, least, most));
  }
  return value;
}

/** One of `choices`; the first when the option is absent. */
export function oneOf<T extends string>(text: string | undefined, option: string, choices: readonly [T, ...T[]]): T {
  if (text === undefined) return choices[0];
  const choice = choices.find((one) => one === text);
  if (choice === undefined) throw new UsageError(l10n.t('{0} needs one of: {1}.', option, choices.join(', ')));
  return choice;
}

/** Bytes of each simulated device, or null when the option is absent. */
export function deviceSizes(text: string | undefined, option: string): number[] | null {
  if (text === undefined) return null;
  const sizes = parseSizes(text);
  if (sizes === null) throw new UsageError(l10n.t('{0} needs sizes such as 24GiB or 24GiB,24GiB.', option));
  return sizes;
}

/** No words are expected beside the options. */
export function noPositionals(positionals: readonly string[]): void {
  const [first] = positionals;
  if (first !== undefined) throw new UsageError(l10n.t('Bad arguments: "{0}" is not expected here.', first));
}
