import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { panelStrings } from '../../../src/shared/panelStrings';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): Record<string, string> =>
  JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, string>;

/** The texts given to `l10n.t` (and to the `t` it is handed on as), and the analysis's `text`, in a folder's sources. */
function textsIn(folder: string): string[] {
  const texts: string[] = [];
  for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const source = ts.createSourceFile(
      name,
      readFileSync(path.join(root, folder, name), 'utf8'),
      ts.ScriptTarget.ES2022,
      true,
    );
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && /(^|\.)t$|^text$/.test(node.expression.getText())) {
        const [first] = node.arguments;
        if (first !== undefined && ts.isStringLiteralLike(first)) texts.push(first.text);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return texts;
}

const places = (text: string): string[] => [...new Set(text.match(/\{\d+\}/g) ?? [])].sort();

describe('the Simplified Chinese bundle', () => {
  const bundle = read('l10n/bundle.l10n.zh-cn.json');
  const used = [
    ...textsIn('src/extension'),
    ...textsIn('src/cli'),
    ...textsIn('src/pythonFiles'),
    ...textsIn('src/server'),
    ...textsIn('src/sessions'),
    ...textsIn('src/analysis'),
  ];

  it('finds the texts of the code at all', () => expect(used.length).toBeGreaterThan(60));

  it('has every text of the extension and the command line', () => {
    expect(used.filter((text) => !(text in bundle))).toEqual([]);
  });

  it('has every text of the panel', () => {
    expect(Object.values(panelStrings).filter((text) => !(text in bundle))).toEqual([]);
  });

  it('has the same places in each pair', () => {
    const wrong = Object.entries(bundle).filter(([english, chinese]) => `${places(english)}` !== `${places(chinese)}`);
    expect(wrong).toEqual([]);
  });
});

describe('the manifest’s texts', () => {
  const english = read('package.nls.json');
  const chinese = read('package.nls.zh-cn.json');

  it('exist in both languages, each used once at least', () => {
    const manifest = readFileSync(path.join(root, 'package.json'), 'utf8');
    const named = [...manifest.matchAll(/"%([\w.]+)%"/g)].map((match) => match[1] ?? '');
    expect([...new Set(named)].sort()).toEqual(Object.keys(english).sort());
    expect(Object.keys(chinese).sort()).toEqual(Object.keys(english).sort());
  });
});
