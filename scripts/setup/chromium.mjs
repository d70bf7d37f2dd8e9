import { existsSync } from 'node:fs';
import { ask, execute } from './execute.mjs';
import { Missing } from './missing.mjs';

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * The path of Chromium or Chrome; as root on Debian it is installed when missing.
 * @throws Missing where it is not there and cannot be installed.
 */
export async function ensureChromium() {
  const found = places.find((place) => existsSync(place));
  if (found) return found;
  if (process.getuid?.() !== 0 || ask('apt-get', ['--version']) === null) {
    throw new Missing('Chromium is missing: install the Debian package chromium, or Google Chrome.');
  }
  console.log('Installing Chromium …');
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const failure = 'Installing the Debian package chromium failed:';
  await execute('apt-get', ['update'], { ...options, failure });
  await execute('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { ...options, failure });
  return places[0];
}
