import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CodeActionKind,
  CodeActionRequest,
  CodeActionTriggerKind,
  DidChangeNotebookDocumentNotification,
  DidChangeTextDocumentNotification,
  DidCloseNotebookDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenNotebookDocumentNotification,
  DidOpenTextDocumentNotification,
  NotebookCellKind,
  type CodeAction,
} from 'vscode-languageserver-protocol/node';
import { Client } from './client';

let client: Client;
beforeEach(() => {
  client = new Client();
});
afterEach(() => client.close());

const head = 'import torch\nmodel, total = torch.nn.Linear(2, 2), 0\n';
const loop = 'for x in loader:\n    total += model(x).mean()\nprint(float(total))\n';
const uri = 'file:///work/train.py';

const open = (text: string, of = uri): Promise<void> =>
  client.connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri: of, languageId: 'python', version: 1, text },
  });

let version = 1;
const change = (text: string, of = uri): Promise<void> =>
  client.connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri: of, version: ++version },
    contentChanges: [{ text }],
  });

const actionsAt = async (of: string, line: number, character: number, context = {}): Promise<CodeAction[]> =>
  ((await client.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: of },
    range: { start: { line, character }, end: { line, character } },
    context: { diagnostics: [], ...context },
  })) ?? []) as CodeAction[];

describe('a script', () => {
  it('has diagnostics and quick fixes until it is mended or closed', async () => {
    await open(head + loop);
    await client.finds(uri, ['graph-summed']);
    const [fix] = await actionsAt(uri, 3, 6, { only: [CodeActionKind.QuickFix] });
    expect(fix?.edit?.changes?.[uri]?.map(({ newText }) => newText)).toEqual(['.item()']);
    await change(head + loop.replace('.mean()', '.mean().item()'));
    await client.finds(uri, []);
    await change(head + loop);
    await client.finds(uri, ['graph-summed']);
    await client.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
    await client.finds(uri, []);
  });

  it('keeps what was found in a statement that is being typed', async () => {
    await open(head + loop);
    await client.finds(uri, ['graph-summed']);
    const broken = head + loop.replace('model(x)', 'model((x)');
    for (const text of [broken, `# one line more\n${broken}`]) {
      client.diagnostics.delete(uri);
      await change(text);
      await client.finds(uri, ['graph-summed']);
    }
    expect(client.diagnostics.get(uri)?.[0]?.range.start).toEqual({ line: 4, character: 4 });
  });

  it('offers the release when it is asked for, and says why not', async () => {
    await open(`${head.replace(', total', ', count').replace(', 0', ', 1')}print(model)\nother()\nprint(count)\n`);
    await client.finds(uri, []);
    const automatic = { triggerKind: CodeActionTriggerKind.Automatic };
    expect(await actionsAt(uri, 2, 8, automatic)).toEqual([]);
    const [action] = await actionsAt(uri, 2, 8);
    expect(action?.kind).toBe(CodeActionKind.RefactorRewrite);
    expect(action?.edit?.changes?.[uri]?.map(({ newText }) => newText)).toEqual([
      '\nimport gc',
      '\ndel model\ngc.collect()\ntorch.cuda.empty_cache()',
    ]);
    await change(`${head}print(model)\n`);
    const only = { only: [CodeActionKind.Refactor] };
    expect((await actionsAt(uri, 2, 8, only))[0]?.disabled?.reason).toContain('the program ends');
    expect(await actionsAt(uri, 2, 8)).toEqual([]);
  });
});

describe('a notebook', () => {
  const notebook = 'file:///work/n.ipynb';
  const cell = (name: string) => `vscode-notebook-cell:/work/n.ipynb#${name}`;
  const openNotebook = (...texts: string[]): Promise<void> =>
    client.connection.sendNotification(DidOpenNotebookDocumentNotification.type, {
      notebookDocument: {
        ...{ uri: notebook, notebookType: 'jupyter-notebook', version: 1 },
        cells: texts.map((_, at) => ({ kind: NotebookCellKind.Code, document: cell(`${at}`) })),
      },
      cellTextDocuments: texts.map((text, at) => ({ uri: cell(`${at}`), languageId: 'python', version: 1, text })),
    });

  it('is one program: what one cell makes, another is told of', async () => {
    await openNotebook(`%matplotlib inline\n${head}`, '# nothing', loop);
    await client.finds(cell('2'), ['graph-summed']);
    expect(client.diagnostics.get(cell('0'))).toEqual([]);
    expect(client.diagnostics.get(cell('2'))?.[0]?.range.start).toEqual({ line: 1, character: 4 });
    const [fix] = await actionsAt(cell('2'), 1, 6, { only: [CodeActionKind.QuickFix] });
    expect(Object.keys(fix?.edit?.changes ?? {})).toEqual([cell('2')]);
  });

  it('follows its cells when they change and go', async () => {
    await openNotebook(head, loop);
    await client.finds(cell('1'), ['graph-summed']);
    await client.connection.sendNotification(DidChangeNotebookDocumentNotification.type, {
      notebookDocument: { uri: notebook, version: 2 },
      change: {
        cells: {
          textContent: [
            {
              document: { uri: cell('1'), version: 2 },
              changes: [{ text: `x = 1\n${loop}` }],
            },
          ],
        },
      },
    });
    await client.finds(cell('1'), ['graph-summed']);
    await client.connection.sendNotification(DidChangeNotebookDocumentNotification.type, {
      notebookDocument: { uri: notebook, version: 3 },
      change: {
        cells: { structure: { array: { start: 1, deleteCount: 1 }, didClose: [{ uri: cell('1') }] } },
      },
    });
    await client.finds(cell('1'), []);
    await client.connection.sendNotification(DidCloseNotebookDocumentNotification.type, {
      notebookDocument: { uri: notebook },
      cellTextDocuments: [{ uri: cell('0') }],
    });
    await client.finds(cell('0'), []);
  });

  it('has the release with its import in another cell', async () => {
    await openNotebook('import torch', 'model = torch.nn.Linear(2, 2)\nprint(model)', 'print(1)');
    await client.finds(cell('1'), []);
    const [action] = await actionsAt(cell('1'), 1, 8);
    expect(action?.edit?.changes).toMatchObject({
      [cell('0')]: [{ newText: '\nimport gc' }],
      [cell('1')]: [{ newText: '\ndel model\ngc.collect()\ntorch.cuda.empty_cache()' }],
    });
  });
});

describe('imports', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'vl-server-'));
    client.server.roots = [folder];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const net = 'import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.mean()\n';
  const script = `import torch\nfrom nets import Net\nmodel, total = Net(), 0\n${loop}`;

  it('are read from the disk, and anew when they change', async () => {
    const main = pathToFileURL(path.join(folder, 'train.py')).href;
    const file = path.join(folder, 'nets.py');
    await open(script, main);
    await client.finds(main, []);
    writeFileSync(file, net.replace('return x', 'self.l = torch.nn.Linear(2, 2)\n        return self.l(x)'));
    client.server.fileChanged(file);
    await client.finds(main, ['graph-summed']);
    const openNets = pathToFileURL(file).href;
    await open('Net = len\n', openNets);
    client.server.fileChanged(file);
    await client.finds(main, []);
  });
});
