import type { Parser } from 'web-tree-sitter';
import type { AnalyseOptions } from '../analysis/analyse';
import type { Finding } from '../analysis/finding';
import { IncrementalAnalysis } from '../analysis/incremental';
import { rulesIgnoredInFile } from '../analysis/suppression/ignoreFile';
import { findingInTyped, ReadableText, type Readable } from './readableText';
import type { AnalysisSettings } from './settings';
import type { Source } from './source';

/** Generated files; nobody reads findings in them, and they would hold up the others. */
const longestText = 2_000_000;

/** Examines one script or notebook again and again while it is edited. */
export class Examination {
  private readonly readable: ReadableText;
  private readonly analysis: IncrementalAnalysis;

  constructor(parser: Parser) {
    this.readable = new ReadableText(parser);
    this.analysis = new IncrementalAnalysis(parser);
  }

  /** What it imports has changed, or it is closed. */
  forget(): void {
    this.analysis.forget();
  }

  /** The findings that the settings ask for, in offsets of the source's text. */
  findings(source: Source, settings: AnalysisSettings, resolve: (moduleName: string) => string | null): Finding[] {
    if (!settings.enabled || source.text.length > longestText) return [];
    const ignoredHere = rulesIgnoredInFile(source.text);
    if (ignoredHere === 'all') return [];
    const { select, ignore } = settings;
    const readable = this.read(source);
    return this.analysis.analyse(readable.text, optionsFor(source, readable, resolve)).flatMap((finding) => {
      const { rule } = finding;
      if ((select.length > 0 && !select.includes(rule)) || ignore.includes(rule) || ignoredHere.has(rule)) return [];
      return findingInTyped(finding, readable) ?? [];
    });
  }

  /** The source's text as the analysis reads it. */
  read(source: Source): Readable {
    return this.readable.update(source.text);
  }
}

export function optionsFor(
  { cells }: Source,
  readable: Readable,
  resolve: (moduleName: string) => string | null,
): AnalyseOptions {
  if (cells.length === 0) return { resolve };
  const inReadable = cells.map(({ start, end }) => ({
    start: readable.fromTyped(start),
    end: readable.fromTyped(end),
  }));
  return { resolve, cells: inReadable };
}
