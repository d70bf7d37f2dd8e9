import type { PanelStrings } from '../../shared/panelStrings';
import { formatBytes, MiB, showSteps, toSteps, type Scale } from '../../shared/units';

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

/** A size with its unit, for sentences: in MiB on a MiB page, so that it can be found again in the tables there. */
export function sizeText(bytes: number, scale: Scale): string {
  if (scale.unit === 'GiB' || bytes < MiB) return formatBytes(bytes);
  return `${figure(toSteps(bytes, scale), scale)} ${scale.unit}`;
}
