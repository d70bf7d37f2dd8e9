/** The language server (`dist/server.js`): thin over the analysis; typing never waits for it. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import type { Parser } from 'web-tree-sitter';
import {
  CodeActionKind,
  createConnection,
  DidChangeConfigurationNotification,
  ProposedFeatures,
  TextDocumentSyncKind,
  type InitializeParams,
  type InitializeResult,
} from 'vscode-languageserver/node';
import type { Text } from '../analysis/finding';
import { createParser } from '../analysis/syntax/parser';
import { AnalysisServer } from './analysisServer';
import { fileOf } from './openFiles';
import { settingsSection } from './settings';

const connection = createConnection(ProposedFeatures.all);
let starting: Promise<Parser> | null = null;
let client: InitializeParams['capabilities'] = {};

const say = ({ text, values }: Text): string => l10n.t(text, ...values);
const server = new AnalysisServer(connection, parser, say, () => client.workspace?.configuration === true);

async function parser(): Promise<Parser> {
  starting ??= (async () => {
    const [engine, python] = await Promise.all(
      ['tree-sitter.wasm', 'tree-sitter-python.wasm'].map((name) => readFile(path.join(__dirname, name))),
    );
    return createParser({ engine: engine as Uint8Array, python: python as Uint8Array });
  })();
  return starting;
}

connection.onInitialize((params): InitializeResult => {
  client = params.capabilities;
  const bundle: unknown = (params.initializationOptions as { l10nBundle?: unknown } | undefined)?.l10nBundle;
  if (typeof bundle === 'string') {
    try {
      l10n.config({ contents: readFileSync(bundle, 'utf8') });
    } catch {
      // English then.
    }
  }
  server.roots = foldersOf(params.workspaceFolders ?? []);
  const cells = [{ language: 'python' }];
  return {
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      notebookDocumentSync: {
        notebookSelector: ['jupyter-notebook', 'interactive'].map((notebookType) => ({
          notebook: { notebookType },
          cells,
        })),
      },
      codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.RefactorRewrite] },
      workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
    },
  };
});

connection.onInitialized(() => {
  if (client.workspace?.didChangeConfiguration?.dynamicRegistration === true) {
    void connection.client.register(DidChangeConfigurationNotification.type, { section: settingsSection });
  }
  if (client.workspace?.workspaceFolders !== true) return;
  connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
    const gone = foldersOf(removed);
    server.roots = [...server.roots.filter((root) => !gone.includes(root)), ...foldersOf(added)];
    server.examineAll();
  });
});

connection.onDidChangeConfiguration(() => server.examineAll());
connection.onDidChangeWatchedFiles(({ changes }) => {
  for (const { uri } of changes) {
    const file = fileOf(uri);
    if (file !== null) server.fileChanged(file);
  }
});
connection.onCodeAction((params) => server.codeActions(params));

function foldersOf(folders: readonly { uri: string }[]): string[] {
  return folders.flatMap(({ uri }) => fileOf(uri) ?? []);
}

server.sources.listen(connection);
connection.listen();
