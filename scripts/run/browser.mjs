import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { ensureChromium } from '../setup/chromium.mjs';

/** Headless Chromium, quiet on the network, with a HOME of its own below `home`. */
export async function launchBrowser(home) {
  const ownHome = path.join(home, 'browser');
  mkdirSync(ownHome, { recursive: true });
  return chromium.launch({
    executablePath: await ensureChromium(),
    env: { ...process.env, HOME: ownHome },
    // Our own hooks end it; Playwright's would race with them.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}
