import type { Finding, Range } from '../finding';
import type { ModuleScope } from '../scopes/module';
import type { Interpreted } from '../values/interpret';
import type { ProgramValues } from '../values/program';

/** What a rule may look at. */
export interface Program extends ProgramValues {
  module: ModuleScope;
  source: string;
  /** Where each code cell of a notebook lies in the text; empty for a script. */
  cells: readonly Range[];
}

/** A rule looks at one function at a time (the top level is the first) and answers what it found there. */
export interface Rule {
  /** Slugs of RULES.md that it reports. */
  slugs: readonly string[];
  /** What a text has where it has something for this rule: the others are not looked at. */
  mentions?: RegExp;
  /** What it finds in a function depends on what other functions hold: it looks at all of them after every edit. */
  wide?: boolean;
  find(one: Interpreted, program: Program): Iterable<Finding>;
}
