import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Results of builds and tests that nobody commits: the VSIX, screenshots, logs. */
export const out = path.join(root, 'out');

/** What is downloaded or built once per machine and user. */
export const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'vram-lens');
