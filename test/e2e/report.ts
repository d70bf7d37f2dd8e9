import { readFileSync } from 'node:fs';

/** One line of `samples/train.py --report`: what torch.cuda said inside the script when a step was over, in bytes. */
export interface ReportLine {
  step: number;
  memory_allocated: number;
  memory_reserved: number;
}

/** The newest whole line; throws while there is none. */
export function newestLine(file: string): ReportLine {
  const lines = readFileSync(file, 'utf8').split('\n');
  const line = lines.at(-2);
  if (line === undefined) throw new Error(`${file} is still empty`);
  return JSON.parse(line) as ReportLine;
}
