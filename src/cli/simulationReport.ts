import type { Session } from '../sessions/session';
import type { SessionHub } from '../sessions/sessionHub';
import { PeakWatch } from './peakWatch';
import type { PythonFailure } from './traceback';

/** What the simulator leaves out (facts/simulator.md section 6); said with every result. */
const notModelled = ['CUDA context', 'cuDNN workspace', 'sort and cub scratch', 'Triton kernels'];

interface TimelineEntry {
  timeMs: number;
  step: number;
  usedBytes: number;
  reservedBytes: number;
}

/** The JSON object of `vram-lens simulate` (CLI.md fixes its words). */
export interface SimulationReport {
  simulated: true;
  mode: string | null;
  verdict: 'fits' | 'oom' | 'failed';
  ooms: number | null;
  guessedScalars: number | null;
  notModelled: string[];
  devices: Record<string, number | null>[];
  steps: number | null;
  peakStep: number | null;
  growthBytesPerStep: number | null;
  peak: { file: string; line: number } | null;
  oom: { file: string | null; line: number | null; message: string } | null;
  timeline: TimelineEntry[];
  error: string | null;
}

/** Collects what the simulated session says while it runs. */
export class SimulationRecorder {
  readonly peaks: PeakWatch;
  private session: Session | null = null;
  private readonly timeline: TimelineEntry[] = [];

  constructor(hub: SessionHub) {
    this.peaks = new PeakWatch(hub);
    // The first session is the script's own; workers it starts are not the answer.
    hub.onSession.on((session) => {
      this.session ??= session;
    });
    hub.onSample.on(({ session, sample }) => {
      if (session !== this.session) return;
      const { usedBytes, reservedBytes } = session.sums();
      this.timeline.push({ timeMs: sample.timeMs, step: session.step, usedBytes, reservedBytes });
    });
  }

  /** @param sizes bytes of the devices asked for. */
  report(sizes: readonly number[], code: number | null, failure: PythonFailure | null): SimulationReport {
    const { session } = this;
    const ranOut = code !== 0 && failure?.outOfMemory === true;
    const verdict = code === 0 ? 'fits' : ranOut ? 'oom' : 'failed';
    const samples = session === null ? [] : [...session.samples.values()];
    const highest = this.timeline.reduce<TimelineEntry | null>(
      (best, entry) => (best === null || entry.usedBytes > best.usedBytes ? entry : best),
      null,
    );
    return {
      simulated: true,
      mode: session?.hello.simulated ?? null,
      verdict,
      ooms: samples.length === 0 ? null : samples.reduce((sum, sample) => sum + sample.ooms, 0),
      // Only estimates guess.
      guessedScalars: session?.hello.simulated === 'estimate' ? null : 0,
      notModelled,
      devices: sizes.map((totalBytes, index) => {
        const sample = session?.samples.get(index);
        return {
          index,
          totalBytes,
          peakUsedBytes: sample?.peakUsedBytes ?? null,
          peakReservedBytes: sample?.peakReservedBytes ?? null,
          usedBytes: sample?.usedBytes ?? null,
          reservedBytes: sample?.reservedBytes ?? null,
          strandedBytes: sample?.strandedBytes ?? null,
          releasableBytes: sample?.releasableBytes ?? null,
        };
      }),
      steps: session === null ? null : this.peaks.steps,
      peakStep: highest?.step ?? null,
      growthBytesPerStep: session?.trend(null).growthBytesPerStep ?? null,
      peak: null,
      oom: ranOut ? { file: failure.file, line: failure.line, message: failure.message } : null,
      timeline: this.timeline,
      error: verdict === 'failed' ? (failure?.message ?? `exit code ${code ?? 'unknown'}`) : null,
    };
  }
}
