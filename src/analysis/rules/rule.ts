import type { Finding } from '../finding';
import type { ModuleScope } from '../scopes/module';
import type { Interpreted } from '../values/interpret';

/** What a rule may look at. */
export interface Program {
  module: ModuleScope;
  /** The functions of the file; the top level is the first. */
  functions: readonly Interpreted[];
}

/** A rule looks at one function at a time and answers what it found there. */
export type Rule = (one: Interpreted, program: Program) => Iterable<Finding>;
