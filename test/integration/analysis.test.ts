import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { settingKeys } from '../../src/shared/manifest';
import { ourExtension } from './ourExtension';

const head = 'import torch\nmodel, total = torch.nn.Linear(2, 2), 0\n';
const loop = 'for x in loader:\n    total += model(x).mean()\nprint(float(total))';

const rulesIn = (document: vscode.TextDocument): string[] =>
  vscode.languages
    .getDiagnostics(document.uri)
    .filter(({ source }) => source === 'VRAM Lens')
    .map(({ code }) => String(code));

/** Waits until the rules found in a document are these. */
async function finds(document: vscode.TextDocument, rules: string[]): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(100)) {
    if (JSON.stringify(rulesIn(document)) === JSON.stringify(rules)) return;
  }
  assert.deepEqual(rulesIn(document), rules);
}

/** The code action of this kind whose title begins so, at the first place of `text` in a document. */
async function action(
  document: vscode.TextDocument,
  text: string,
  kind: vscode.CodeActionKind,
  title: string,
): Promise<vscode.CodeAction> {
  const at = document.positionAt(document.getText().indexOf(text));
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    ...[document.uri, new vscode.Range(at, at), kind.value],
  );
  const found = actions.find((one) => one.title.startsWith(title));
  assert.ok(found, `no "${title}" among ${JSON.stringify(actions.map((one) => one.title))}`);
  return found;
}

async function apply({ edit }: vscode.CodeAction): Promise<void> {
  assert.ok(edit !== undefined && (await vscode.workspace.applyEdit(edit)));
}

const cell = (text: string): vscode.NotebookCellData =>
  new vscode.NotebookCellData(vscode.NotebookCellKind.Code, text, 'python');

async function openNotebook(...texts: string[]): Promise<vscode.TextDocument[]> {
  const markup = new vscode.NotebookCellData(vscode.NotebookCellKind.Markup, '# training', 'markdown');
  const data = new vscode.NotebookData([markup, ...texts.map(cell)]);
  const notebook = await vscode.workspace.openNotebookDocument('jupyter-notebook', data);
  await vscode.window.showNotebookDocument(notebook);
  return notebook
    .getCells()
    .slice(1)
    .map((one) => one.document);
}

describe('the analysis', () => {
  before(async () => {
    await ourExtension().activate();
  });
  afterEach(async () => {
    await vscode.workspace.getConfiguration().update(settingKeys.analysisIgnore, undefined, true);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('finds in one cell of a notebook what another one began, and mends it there', async () => {
    const [first, second] = await openNotebook(head, loop);
    assert.ok(first !== undefined && second !== undefined);
    await finds(second, ['graph-summed']);
    assert.deepEqual(rulesIn(first), []);
    await apply(await action(second, 'total +=', vscode.CodeActionKind.QuickFix, 'Keep the number'));
    assert.equal(second.getText(), loop.replace('.mean()', '.mean().item()'));
    await finds(second, []);
  });

  it('releases a model after its last use, with an import in another cell', async () => {
    const [first, second] = await openNotebook('import torch', 'model = torch.nn.Linear(2, 2)\nprint(model)', loop);
    assert.ok(first !== undefined && second !== undefined);
    await finds(second, []);
    // Another cell reads the name: it could not run again.
    await assert.rejects(action(second, 'model)', vscode.CodeActionKind.RefactorRewrite, 'Release GPU memory'));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(second.uri, new vscode.Range(0, 0, 1, 100), 'net = torch.nn.Linear(2, 2)\nprint(net)');
    assert.ok(await vscode.workspace.applyEdit(edit));
    await apply(await action(second, 'net)', vscode.CodeActionKind.RefactorRewrite, 'Release GPU memory'));
    assert.equal(first.getText(), 'import torch\nimport gc');
    assert.equal(
      second.getText(),
      'net = torch.nn.Linear(2, 2)\nprint(net)\ndel net\ngc.collect()\ntorch.cuda.empty_cache()',
    );
  });

  it('keeps what it found while a line is being typed', async () => {
    const document = await vscode.workspace.openTextDocument({ language: 'python', content: head + loop });
    const editor = await vscode.window.showTextDocument(document);
    await finds(document, ['graph-summed']);
    const seen: string[][] = [];
    const watch = vscode.languages.onDidChangeDiagnostics(() => seen.push(rulesIn(document)));
    await editor.edit((edit) => edit.insert(new vscode.Position(3, 13), '('));
    await sleep(1500);
    watch.dispose();
    assert.ok(seen.length > 0 && seen.every((rules) => rules.includes('graph-summed')), JSON.stringify(seen));
  });

  it('leaves out the rules that the settings say', async () => {
    const document = await vscode.workspace.openTextDocument({ language: 'python', content: head + loop });
    await vscode.window.showTextDocument(document);
    await finds(document, ['graph-summed']);
    await vscode.workspace.getConfiguration().update(settingKeys.analysisIgnore, ['graph-summed'], true);
    await finds(document, []);
    await vscode.workspace.getConfiguration().update(settingKeys.analysisIgnore, undefined, true);
    await finds(document, ['graph-summed']);
  });
});
