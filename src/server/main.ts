/** The language server (`dist/server.js`): thin over the analysis; typing never waits for it. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import type { Parser } from 'web-tree-sitter';
import {
  CodeActionKind,
  createConnection,
  ProposedFeatures,
  TextDocuments,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { analyse } from '../analysis/analyse';
import type { Finding, Text } from '../analysis/finding';
import { createParser } from '../analysis/syntax/parser';
import { codeActions, diagnostic } from './diagnostics';

/** After the last keystroke: long enough not to flicker, short enough to feel at once. */
const quietMs = 250;
/** Generated files; nobody reads findings in them, and they would hold up the others. */
const longestText = 2_000_000;

const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);
const timers = new Map<string, NodeJS.Timeout>();
const findings = new Map<string, { version: number; list: Finding[] }>();
let starting: Promise<Parser> | null = null;

const say = ({ text, values }: Text): string => l10n.t(text, ...values);

async function parser(): Promise<Parser> {
  starting ??= (async () => {
    const [engine, python] = await Promise.all(
      ['tree-sitter.wasm', 'tree-sitter-python.wasm'].map((name) => readFile(path.join(__dirname, name))),
    );
    return createParser({ engine: engine as Uint8Array, python: python as Uint8Array });
  })();
  return starting;
}

async function examine(document: TextDocument): Promise<void> {
  const text = document.getText();
  let list: Finding[] = [];
  try {
    if (text.length <= longestText) list = analyse(await parser(), text);
  } catch (error) {
    connection.console.error(`${document.uri}: ${error instanceof Error ? error.stack : String(error)}`);
  }
  // Closed or changed meanwhile: a newer examination is on its way.
  if (documents.get(document.uri)?.version !== document.version) return;
  findings.set(document.uri, { version: document.version, list });
  const diagnostics = list.map((finding) => diagnostic(finding, document, say));
  await connection.sendDiagnostics({ uri: document.uri, version: document.version, diagnostics });
}

function schedule(document: TextDocument, afterMs: number): void {
  clearTimeout(timers.get(document.uri));
  const run = (): void => {
    timers.delete(document.uri);
    examine(document).catch((error: unknown) => connection.console.error(String(error)));
  };
  timers.set(document.uri, setTimeout(run, afterMs));
}

connection.onInitialize((params) => {
  const bundle: unknown = (params.initializationOptions as { l10nBundle?: unknown } | undefined)?.l10nBundle;
  if (typeof bundle === 'string') {
    try {
      l10n.config({ contents: readFileSync(bundle, 'utf8') });
    } catch {
      // English then.
    }
  }
  return {
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
    },
  };
});

documents.onDidOpen(({ document }) => schedule(document, 0));
documents.onDidChangeContent(({ document }) => schedule(document, quietMs));
documents.onDidClose(({ document }) => {
  clearTimeout(timers.get(document.uri));
  timers.delete(document.uri);
  findings.delete(document.uri);
  void connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
});

connection.onCodeAction(({ textDocument, range }) => {
  const document = documents.get(textDocument.uri);
  const known = findings.get(textDocument.uri);
  // Edits made for an older text would land in the wrong place.
  if (document === undefined || known === undefined || known.version !== document.version) return [];
  const start = document.offsetAt(range.start);
  const end = document.offsetAt(range.end);
  return known.list
    .filter((finding) => finding.start <= end && finding.end >= start)
    .flatMap((finding) => codeActions(finding, document, say));
});

documents.listen(connection);
connection.listen();
