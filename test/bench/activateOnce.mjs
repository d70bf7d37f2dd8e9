// Child of activation.bench.mjs: prints the milliseconds that loading and activating an extension took.
// Arguments: its main file, its folder, an empty storage folder.
import Module from 'node:module';
import path from 'node:path';

const [, , file, extensionPath, storage] = process.argv;

/** Answers every question with itself: enough for code that only registers things. */
const anything = new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : name === 'then' ? undefined : anything),
  apply: () => anything,
  construct: () => anything,
});
// As a prototype: bundled code copies the module's own names, and there are none.
const vscode = Object.create(anything);
const load = Module._load;
Module._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));

const context = {
  subscriptions: [],
  extensionPath,
  extensionUri: { fsPath: extensionPath },
  globalStorageUri: { fsPath: path.join(storage, 'global') },
  environmentVariableCollection: anything,
  extension: { packageJSON: { version: '0' } },
};
const require = Module.createRequire(import.meta.url);
const begun = performance.now();
Promise.resolve(require(file).activate(context)).then(() => {
  process.stdout.write(String(performance.now() - begun));
  process.exit(0);
});
