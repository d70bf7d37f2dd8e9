/** `vramLens.analysis.*` for one document. */
export interface AnalysisSettings {
  enabled: boolean;
  /** The rules to report; empty: all. */
  select: readonly string[];
  ignore: readonly string[];
}

export const settingsSection = 'vramLens.analysis';

const defaults: AnalysisSettings = { enabled: true, select: [], ignore: [] };

/** What a client answers for the section; values of another kind count as not set. */
export function readSettings(answer: unknown): AnalysisSettings {
  if (typeof answer !== 'object' || answer === null) return defaults;
  const { enabled, select, ignore } = answer as Record<string, unknown>;
  return { enabled: enabled !== false, select: rulesIn(select), ignore: rulesIn(ignore) };
}

function rulesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((rule): rule is string => typeof rule === 'string') : [];
}
