import type { PanelStrings } from '../../shared/panelStrings';
import { formatClock } from '../../shared/units';

/** Fills the `{0}`-style places of a text. */
export function fill(text: string, ...values: (string | number)[]): string {
  return text.replace(/\{(\d)\}/g, (place, i: string) => String(values[Number(i)] ?? place));
}

/** A time before now on the chart's axis: `−10 min`, `−7:30`, `−1 h 12 min`. */
export function axisTime(secondsAgo: number, strings: PanelStrings): string {
  const seconds = Math.round(secondsAgo);
  if (seconds < 3600) {
    return seconds % 60 === 0 ? fill(strings.axisMinutes, seconds / 60) : fill(strings.axisClock, formatClock(seconds));
  }
  const minutes = Math.round(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? fill(strings.axisHours, hours) : fill(strings.axisHoursMinutes, hours, minutes % 60);
}

/** A moment as a clock shows it, in the editor's language, always 24 hours: `12:04:31`. */
export function timeOfDay(timeMs: number, locale: string): string {
  return new Date(timeMs).toLocaleTimeString(locale, { hourCycle: 'h23' });
}

/** A device's model without the maker: `GeForce RTX 4090`. */
export function modelName(name: string): string {
  return name.replace(/^NVIDIA /, '');
}
