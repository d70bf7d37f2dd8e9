/** Where a Python program ended, read from what it wrote to standard error. */
export interface PythonFailure {
  file: string | null;
  line: number | null;
  /** The exception's own line, `ValueError: …`. */
  message: string;
  outOfMemory: boolean;
}

const outOfMemory = /^(torch\.(cuda\.)?OutOfMemoryError|RuntimeError): .*\bout of memory\b/;

/** The last traceback in `text`; the place is its last frame outside installed packages and the standard library. */
export function lastFailure(text: string): PythonFailure | null {
  const start = text.lastIndexOf('Traceback (most recent call last):');
  if (start < 0) return null;
  const lines = text.slice(start).split('\n').slice(1);
  let file: string | null = null;
  let line: number | null = null;
  for (const row of lines) {
    const frame = /^ {2}File "(.+)", line (\d+)/.exec(row);
    if (frame !== null) {
      const [, path, number] = frame as unknown as [string, string, string];
      if (!isLibrary(path)) {
        file = path;
        line = Number(number);
      }
    } else if (/^[A-Za-z_][\w.]*(: |$)/.test(row)) {
      return { file, line, message: row, outOfMemory: outOfMemory.test(row) };
    }
  }
  return null;
}

function isLibrary(file: string): boolean {
  return /[\\/](site-packages|dist-packages)[\\/]|[\\/]lib[\\/]python\d|^<frozen |[\\/]vram_lens_(agent|simulator)[\\/]/.test(
    file,
  );
}
