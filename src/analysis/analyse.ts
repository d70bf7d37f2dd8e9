import type { Parser } from 'web-tree-sitter';
import type { Finding, Range } from './finding';
import { withLineBreaksOf } from './fixes/lineBreaks';
import { rules } from './rules/registry';
import type { Program } from './rules/rule';
import { readImported, type Resolve } from './scopes/imported';
import { readModule, type ModuleScope } from './scopes/module';
import { parse } from './syntax/parser';
import { Interpretation } from './values/program';

/** `# vram-lens: ignore` or `# vram-lens: ignore[rule, rule]` at the end of a finding's first line silences it. */
const suppression = /#\s*vram-lens:\s*ignore(?:\[([^\]]*)\])?/;

export interface AnalyseOptions {
  /** Where each code cell of a notebook lies in the text. */
  cells?: readonly Range[];
  /** Gives the text of a file that the analysed one imports. */
  resolve?: Resolve;
}

/** Findings in one Python file, in order of their place. Text that does not parse is read as far as it does. */
export function analyse(parser: Parser, source: string, options: AnalyseOptions = {}): Finding[] {
  const program = readProgram(parser, source, options);
  if (program === null) return [];
  const found = rules.flatMap((rule) => {
    if (rule.mentions?.test(source) === false) return [];
    return program.functions.flatMap((one) => [...rule.find(one, program)]);
  });
  return reportable(found, source);
}

/** Of what the rules found, in their order: one per place, none that the text suppresses; in the order of the text. */
export function reportable(found: readonly Finding[], source: string): Finding[] {
  const places = new Set<string>();
  const isFirst = ({ start, end }: Finding): boolean => {
    const place = `${start} ${end}`;
    return !places.has(place) && places.add(place) !== undefined;
  };
  return found
    .filter((finding) => isFirst(finding) && !isSuppressed(finding, source))
    .map((finding) => ({ ...finding, chain: finding.chain.filter((reason) => (reason.origin ?? 0) === 0) }))
    .map((finding) => withLineBreaksOf(source, finding))
    .sort((a, b) => a.start - b.start);
}

/** What the rules look at; null for a file without torch. */
export function readProgram(parser: Parser, source: string, options: AnalyseOptions = {}): Program | null {
  // Nothing to find without torch, and most Python files are without.
  if (!/\b(torch|lightning)\b/.test(source)) return null;
  const { files, linked } = readImported(parser, source, options.resolve ?? (() => null));
  const module = readModule(parse(parser, source), linked);
  return programOf(new Interpretation(module, files), module, source, options.cells ?? []);
}

export function programOf(
  values: Interpretation,
  module: ModuleScope,
  source: string,
  cells: readonly Range[],
): Program {
  return { functions: values.functions, isHook: (scope) => values.isHook(scope), module, source, cells };
}

function isSuppressed(finding: Finding, source: string): boolean {
  const lineEnd = source.indexOf('\n', finding.start);
  const start = source.lastIndexOf('\n', finding.start - 1) + 1;
  const match = suppression.exec(source.slice(start, lineEnd < 0 ? undefined : lineEnd));
  if (match === null) return false;
  const [, list] = match;
  return list === undefined || list.split(',').some((rule) => rule.trim() === finding.rule);
}

/** `source` with edits applied; edits do not overlap. */
export function applyEdits(source: string, edits: readonly { start: number; end: number; newText: string }[]): string {
  const ordered = [...edits].sort((a, b) => b.start - a.start || b.end - a.end);
  return ordered.reduce((text, { start, end, newText }) => text.slice(0, start) + newText + text.slice(end), source);
}
