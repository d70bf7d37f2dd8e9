import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Progress } from '../../../src/cli/check/progress';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stream(isTTY: boolean): { written: string[]; stream: NodeJS.WriteStream } {
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  return { written, stream: { isTTY, write } as unknown as NodeJS.WriteStream };
}

it('is one line on a terminal, ten times a second at most, and goes away', () => {
  const terminal = stream(true);
  const progress = new Progress(100, terminal.stream);
  progress.tick(); // too early to say anything
  vi.advanceTimersByTime(500);
  progress.tick();
  progress.tick();
  vi.advanceTimersByTime(150);
  progress.tick();
  progress.clear();
  expect(terminal.written).toEqual(['\r\x1b[K2 of 100 files', '\r\x1b[K4 of 100 files', '\r\x1b[K']);
});

it('is nothing elsewhere', () => {
  const file = stream(false);
  const progress = new Progress(100, file.stream);
  vi.advanceTimersByTime(500);
  progress.tick();
  progress.clear();
  expect(file.written).toEqual([]);
});
