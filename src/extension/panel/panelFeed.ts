import type { DeviceBoard } from '../../sessions/deviceBoard';
import type { Disposable } from '../../sessions/emitter';
import { panelState } from '../../sessions/panelState';
import type { SessionHub } from '../../sessions/sessionHub';
import type { DriverReading } from '../../shared/driverReading';
import type { DriverView, ToPanel } from '../../shared/panelProtocol';
import type { PanelStrings } from '../../shared/panelStrings';

/** At most ten messages a second (facts/vscode.md 3.4: a message costs up to milliseconds in the page). */
const periodMs = 100;
/** With no news, paces and silences still change. */
const idlePeriodMs = 1000;
/** Intervals of the history a page gets at first: more than it has pixels. */
const historyBuckets = 600;

export interface PageSide {
  locale: string;
  strings: PanelStrings;
  /** Resolves when the page took the message (or false when it is hidden). */
  post(message: ToPanel): Thenable<boolean>;
}

/**
 * Feeds one visible page: everything once when it is ready, then what changed. It watches the sessions only while it
 * lives; a hidden view has none. The next message waits for the last one to be taken, so a busy page is never flooded.
 */
export class PanelFeed {
  private readonly watching: Disposable;
  private readonly changes: Disposable;
  private timer: NodeJS.Timeout | null = null;
  private sending = false;
  private dirty = true;
  private ready = false;
  private disposed = false;
  private lastStateMs = 0;
  private shown: { deviceKey: string; spanS: number | null; place: number } | null = null;

  constructor(
    private readonly hub: SessionHub,
    private readonly board: DeviceBoard,
    private readonly driver: () => { view: DriverView; reading: DriverReading | null },
    private readonly page: PageSide,
    private readonly failed: (error: unknown) => void,
  ) {
    this.watching = hub.watch();
    this.changes = hub.onChange.on(() => {
      this.dirty = true;
    });
  }

  dispose(): void {
    this.disposed = true;
    if (this.timer !== null) clearInterval(this.timer);
    this.changes.dispose();
    this.watching.dispose();
  }

  /** The page (re)started and has nothing yet. */
  hydrate(): void {
    this.ready = true;
    this.shown = null;
    this.timer ??= setInterval(() => this.tick(), periodMs);
    const { locale, strings } = this.page;
    this.send([{ type: 'hydrate', locale, strings, state: this.state() }]);
  }

  /** The page shows this device over this span from now on. */
  show(deviceKey: string, spanS: number | null): void {
    if (!this.ready) return;
    const timeline = this.board.timeline(deviceKey);
    this.shown = { deviceKey, spanS, place: timeline?.total ?? 0 };
    if (timeline === null) return;
    this.send([{ type: 'history', deviceKey, spanS, columns: timeline.thinned(spanS, historyBuckets) }]);
  }

  /** Something outside the sessions changed (the driver). */
  touch(): void {
    this.dirty = true;
  }

  private state(): ReturnType<typeof panelState> {
    const nowMs = Date.now();
    this.lastStateMs = nowMs;
    this.dirty = false;
    const { view, reading } = this.driver();
    return panelState(this.hub.sessions, this.board, view, reading, nowMs);
  }

  private tick(): void {
    if (this.sending || (!this.dirty && Date.now() - this.lastStateMs < idlePeriodMs)) return;
    const messages: ToPanel[] = [{ type: 'state', state: this.state() }];
    if (this.shown !== null) {
      const { deviceKey, place } = this.shown;
      const timeline = this.board.timeline(deviceKey);
      if (timeline !== null && timeline.total > place) {
        messages.push({ type: 'append', deviceKey, columns: timeline.since(place) });
        this.shown.place = timeline.total;
      }
    }
    this.send(messages);
  }

  private send(messages: ToPanel[]): void {
    if (this.disposed) return;
    this.sending = true;
    Promise.all(messages.map((message) => this.page.post(message)))
      .catch((error: unknown) => this.failed(error))
      .finally(() => {
        this.sending = false;
      })
      .catch(() => undefined);
  }
}
