import type { Severity, Text } from '../../analysis/finding';

/** 1-based; columns count Unicode code points; the end is exclusive. */
export interface Region {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

export interface Place {
  /** In a notebook the index among all cells, from 0; `region` counts in that cell then. */
  cell: number | null;
  region: Region;
  /** The same place in the file itself: in a notebook's JSON, otherwise `region`. */
  inFile: Region;
}

export interface PlacedReason {
  place: Place;
  message: Text;
}

export interface PlacedEdit {
  place: Place;
  newText: string;
}

export interface PlacedFix {
  title: Text;
  safe: boolean;
  edits: PlacedEdit[];
  /** The same change of the file itself: in a notebook of its JSON. */
  inFile: { region: Region; newText: string }[];
}

/** A finding without offsets: it can go from thread to thread and be written without the file's text. */
export interface PlacedFinding {
  rule: string;
  severity: Severity;
  place: Place;
  message: Text;
  chain: PlacedReason[];
  fixes: PlacedFix[];
  /** Stays when lines move: see `fingerprint.ts`. */
  fingerprint: string;
}

export interface CheckedFile {
  /** As the user named it. */
  file: string;
  findings: PlacedFinding[];
  /** Findings that the baseline has. */
  hidden: number;
  linesAnalysed: number;
  /** The fixes applied to `fixed`. */
  fixes: number;
  /** The file's bytes with fixes applied, where there are any; of standard input always. */
  fixed: Uint8Array | null;
  /** What the fixes change, as a patch. */
  patch: string;
}

export interface SkippedFile {
  file: string;
  reason: Text;
  /** It should have been checked and could not be: exit code 2. False for what is not ours to check. */
  failed: boolean;
}

export type FileResult = { checked: CheckedFile } | { skipped: SkippedFile };
