import type { PanelStrings } from '../../shared/panelStrings';
import { showSteps, type Scale } from '../../shared/units';

/** What every part of the page needs to write its texts. */
export interface TextContext {
  strings: PanelStrings;
  locale: string;
  scale: Scale;
}

/** A figure of the page, or `–` where it is not known. */
export function figure(steps: number | null, scale: Scale): string {
  return steps === null ? '–' : showSteps(steps, scale);
}
