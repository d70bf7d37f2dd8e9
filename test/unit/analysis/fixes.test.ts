import type { Parser } from 'web-tree-sitter';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyse, applyEdits } from '../../../src/analysis/analyse';
import type { Finding } from '../../../src/analysis/finding';
import { ownScripts, sharedScripts, type Labelled } from './labelled';
import { testParser } from './testParser';

/** Fixes that leave something to say, and why. A script whose fixes are right must leave this list. */
const notRightYet: Record<string, string> = {
  'rollout-keeps-history/option_critic.leak.py': 'what is detached is a view, which keeps its storage',
};

const leaks = [...sharedScripts(), ...ownScripts()].filter(({ leak }) => leak !== null);
const scripts = leaks.filter(({ cells }) => cells.length === 0);

const withCrlf = (text: string): string => text.replaceAll('\n', '\r\n');
const withTabs = (text: string): string =>
  text.replace(/^(?: {4})+/gm, (blanks) => '\t'.repeat(Math.floor(blanks.length / 4)));

describe('the fixes of the labelled scripts', () => {
  let parser: Parser;
  beforeAll(async () => {
    parser = await testParser();
  });

  const find = (source: string, cells: Labelled['cells'] = []): Finding[] => analyse(parser, source, { cells });
  const fixedTexts = (source: string): string[] =>
    find(source).flatMap(({ fixes }) => fixes.map(({ edits }) => applyEdits(source, edits)));

  /** What is wrong with the text that a fix of a finding leaves. */
  function whatIsWrong(source: string, finding: Finding, all: readonly Finding[], edits: Finding['fixes'][0]['edits']) {
    const fixed = applyEdits(source, edits);
    const wrong: string[] = [];
    if (parser.parse(fixed)?.rootNode.hasError !== false) wrong.push('does not parse');
    const counts = new Map<string, number>();
    for (const { rule } of all) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    counts.set(finding.rule, (counts.get(finding.rule) ?? 0) - 1);
    for (const { rule, start } of find(fixed)) {
      const left = (counts.get(rule) ?? 0) - 1;
      counts.set(rule, left);
      const line = fixed.slice(fixed.lastIndexOf('\n', start) + 1).split('\n', 1)[0] ?? '';
      if (left < 0) wrong.push(`${rule} ${rule === finding.rule ? 'stays' : 'is new'}: ${line.trim()}`);
    }
    return wrong;
  }

  it.each(scripts.map((one) => [one.name, one] as const))('end what they are for in %s', (name, { source }) => {
    const all = find(source);
    const wrong = all.flatMap((finding) =>
      finding.fixes.flatMap((fix) =>
        whatIsWrong(source, finding, all, fix.edits).map((what) => `${finding.rule} "${fix.title.text}": ${what}`),
      ),
    );
    if (notRightYet[name] === undefined) expect(wrong).toEqual([]);
    else expect(wrong.length, `${name} is right now: take it off the list`).toBeGreaterThan(0);
  });

  it.each(scripts.map((one) => [one.name, one] as const))('keep line breaks and tabs in %s', (_, { source }) => {
    const plain = fixedTexts(source);
    expect(fixedTexts(withCrlf(source))).toEqual(plain.map(withCrlf));
    // A continued line may be indented by blanks that are no whole number of tabs.
    expect(fixedTexts(withTabs(source)).map(withTabs)).toEqual(plain.map(withTabs));
  });
});
