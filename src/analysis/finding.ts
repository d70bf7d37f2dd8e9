/** What the analysis answers. Offsets are UTF-16 code units from the start of the text, ends exclusive. */

/** A text for people by its English form with `{0}`-style places; whoever shows it translates it. */
export interface Text {
  text: string;
  values: string[];
}

export interface Range {
  start: number;
  end: number;
}

/** One reason on the way from the cause to the finding. */
export interface Reason extends Range {
  message: Text;
  /** The file it is of, as `originOf` numbers them; only those of the analysed file leave the analysis. */
  origin?: number;
}

export interface Edit extends Range {
  newText: string;
}

export interface Fix {
  title: Text;
  /** With a fixed seed the program prints the same up to rounding and trains the same. */
  safe: boolean;
  edits: Edit[];
}

/** `error`: GPU memory grows; `warning`: it stays too long; `hint`: host memory or time. */
export type Severity = 'error' | 'warning' | 'hint';

export interface Finding extends Range {
  /** Slug of RULES.md. */
  rule: string;
  severity: Severity;
  message: Text;
  /** At least one. */
  chain: Reason[];
  /** The preferred one first. */
  fixes: Fix[];
}

export function text(english: string, ...values: string[]): Text {
  return { text: english, values };
}
