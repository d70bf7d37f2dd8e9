import type { Severity, Text } from '../../finding';

/** What a rule means, for someone who meets it. */
export interface RuleExplanation {
  /** The slug of RULES.md. */
  rule: string;
  /** What its findings mostly are. */
  severity: Severity;
  title: Text;
  finds: Text;
  costs: Text;
  fix: Text;
  /** Python that the rule finds, and the same without it. */
  example: string;
  better: string;
}
