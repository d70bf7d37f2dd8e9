import { ask } from './execute.mjs';
import { Missing } from './missing.mjs';

/** @throws Missing where no C++ compiler is on the path; MSVC is found by CMake itself, so Windows is not asked. */
export function ensureCompiler() {
  if (process.platform === 'win32') return;
  const names = [process.env.CXX, 'c++', 'g++', 'clang++'].filter(Boolean);
  if (names.some((name) => ask(name, ['--version']) !== null)) return;
  throw new Missing('There is no C++ compiler: install the Debian package g++ (on macOS: xcode-select --install).');
}
