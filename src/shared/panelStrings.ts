/**
 * Every text of the panel, in English, with `{0}`-style places. The host translates each value by its English text
 * (l10n/bundle.l10n.*.json) and hands the whole object to the page. A unit test holds the bundles complete.
 */
export const panelStrings = {
  used: 'Used',
} as const;

export type PanelStrings = Record<keyof typeof panelStrings, string>;
