import * as l10n from '@vscode/l10n';

const everyMs = 100;
/** What is done sooner needs no line. */
const silentMs = 400;

/** A line on a terminal's standard error that says how far the check is; nothing anywhere else. */
export class Progress {
  private readonly begun = Date.now();
  private shownAt = 0;
  private done = 0;

  constructor(
    private readonly total: number,
    private readonly stream: NodeJS.WriteStream = process.stderr,
  ) {}

  readonly tick = (): void => {
    this.done++;
    const now = Date.now();
    if (!this.stream.isTTY || now - this.begun < silentMs || now - this.shownAt < everyMs) return;
    this.shownAt = now;
    this.stream.write(`\r\x1b[K${l10n.t('{0} of {1} files', this.done, this.total)}`);
  };

  /** Takes the line away. */
  clear(): void {
    if (this.shownAt > 0) this.stream.write('\r\x1b[K');
    this.shownAt = 0;
  }
}
