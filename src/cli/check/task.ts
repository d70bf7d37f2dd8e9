/** One file to check. It goes to a worker thread as it is. */
export interface Task {
  /** As the user named it; `-` with the bytes of standard input. */
  file: string;
  bytes: Uint8Array | null;
  /** What fingerprints call the file. */
  name: string;
  /** Null: all. */
  select: readonly string[] | null;
  ignore: readonly string[];
  /** Fingerprints that the baseline has for this file. */
  baseline: readonly string[];
  fix: 'none' | 'safe' | 'all';
  /** Fixes are to be written: findings are those that are left. Otherwise they are those of the file as it is. */
  writes: boolean;
}
