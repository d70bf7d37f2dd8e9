import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureCompiler } from './compiler.mjs';
import { execute } from './execute.mjs';
import { Missing } from './missing.mjs';
import { once } from './once.mjs';
import { cache } from './paths.mjs';

/** Pinned: the tests use a switch that is internal to this version of VS Code (1.139.1). */
const codeServerVersion = '4.139.1';
/** It wants Node 24; this package carries the binary and the headers. */
const nodeVersion = '24.22.3';

/**
 * The browser-based VS Code: `{node, entry}`, the Node binary and the script to start with it. Installed into the cache
 * folder at first use: without install scripts, which would compile for minutes and want Kerberos headers; only the two
 * native modules that have no prebuilt binary and are needed at start are compiled.
 * @throws Missing where it cannot be installed.
 */
export async function ensureCodeServer() {
  if (process.platform !== 'linux') {
    throw new Missing(
      'The browser-based VS Code is set up on Linux only: install the desktop VS Code and its `code` command.',
    );
  }
  const nodePackage = `node-linux-${process.arch}`;
  const folder = path.join(cache, `code-server-${codeServerVersion}-node-${nodeVersion}`);
  const modules = path.join(folder, 'node_modules');
  const node = path.join(modules, nodePackage, 'bin', 'node');
  await once(folder, async () => {
    ensureCompiler();
    console.log(`Installing the browser-based VS Code (code-server ${codeServerVersion}) into ${folder} …`);
    const env = {
      ...process.env,
      PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
      npm_config_nodedir: path.join(modules, nodePackage),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
    };
    const npm = (args, cwd) =>
      execute('npm', args, {
        cwd,
        env,
        failure: `Installing code-server failed (npm ${args[0]}); it says:`,
      });
    await writeFile(path.join(folder, 'package.json'), '{"private": true}\n');
    await npm(
      ['install', '--ignore-scripts', `code-server@${codeServerVersion}`, `${nodePackage}@${nodeVersion}`],
      folder,
    );
    await chmod(node, 0o755);
    const vscode = path.join(modules, 'code-server', 'lib', 'vscode');
    await npm(['install', '--omit=dev', '--ignore-scripts'], vscode);
    await npm(['install', '--omit=dev', '--ignore-scripts'], path.join(vscode, 'extensions'));
    await npm(['rebuild', '@vscode/spdlog', '@vscode/native-watchdog'], vscode);
  });
  return { node, entry: path.join(modules, 'code-server', 'out', 'node', 'entry.js') };
}
