import type { FromPanel } from '../../shared/panelProtocol';

/** Seconds each range shows; null: everything. */
export const spans = [60, 600, 3600, null] as const;
export type Span = (typeof spans)[number];

/** What the page remembers over a reload of itself. */
export interface UiState {
  /** The device the user chose; null: the page chooses. */
  deviceKey: string | null;
  spanS: Span;
  collapsed: string[];
}

declare function acquireVsCodeApi(): {
  postMessage(message: FromPanel): void;
  getState(): unknown;
  setState(state: UiState): void;
};

/** The editor's side of the page: typed messages out, the page's own small state. */
export class Host {
  private readonly api = acquireVsCodeApi();
  readonly ui: UiState = readUi(this.api.getState());

  post(message: FromPanel): void {
    this.api.postMessage(message);
  }

  saveUi(change: Partial<UiState>): void {
    Object.assign(this.ui, change);
    this.api.setState(this.ui);
  }
}

/** The state of an earlier version, or anything else, counts only as far as it has our shape. */
function readUi(saved: unknown): UiState {
  const ui: UiState = { deviceKey: null, spanS: 600, collapsed: [] };
  if (typeof saved !== 'object' || saved === null) return ui;
  const s = saved as Record<string, unknown>;
  if (typeof s['deviceKey'] === 'string') ui.deviceKey = s['deviceKey'];
  const span = spans.find((known) => known === s['spanS']);
  if (span !== undefined) ui.spanS = span;
  if (Array.isArray(s['collapsed'])) ui.collapsed = s['collapsed'].filter((id) => typeof id === 'string');
  return ui;
}
