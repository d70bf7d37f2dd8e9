import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyse, applyEdits } from '../../../src/analysis/analyse';
import { lineOf, testParser } from './testParser';

let parser: Parser;
beforeAll(async () => {
  parser = await testParser();
});

/** A script with a model, a loss and `body` in a function that is called with them; `^` marks lines with findings. */
function script(body: string): { source: string; marked: number[] } {
  const lines = [
    'import torch',
    'from torch import nn',
    'import torch.nn.functional as F',
    'def run(model, criterion, optimizer, loader):',
    ...body.split('\n').map((line) => `    ${line}`),
    'model = nn.Linear(4, 4)',
    'run(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1), [])',
  ];
  const marked = lines.flatMap((line, index) => (line.includes('  # ^') ? [index + 1] : []));
  return { source: lines.map((line) => line.replace(/ {2}# \^$/, '')).join('\n'), marked };
}

function check(body: string): void {
  const { source, marked } = script(body);
  expect(parser.parse(source)?.rootNode.hasError).toBe(false);
  expect(analyse(parser, source).map((finding) => lineOf(source, finding.start))).toEqual(marked);
}

function rulesOf(body: string): string[] {
  return analyse(parser, script(body).source).map((finding) => `${finding.rule} ${finding.severity}`);
}

describe('a loss summed over a loop', () => {
  it.each([
    ['total = 0\nfor x in loader:\n    total += criterion(model(x), x)  # ^'],
    ['total = 0\nfor x in loader:\n    total = total + criterion(model(x), x)  # ^'],
    ['total = 0\nfor x in loader:\n    loss = F.mse_loss(model(x), x) / 2\n    total = loss + total  # ^'],
    [
      'total = 0\nwhile True:\n    y = model(loader).relu().mean()\n    total += y  # ^\n    if total > 3:\n        break',
    ],
    // Only one branch keeps the graph, and that is enough.
    [
      'total = 0\nfor x in loader:\n    loss = criterion(model(x), x)\n    if x:\n        total += loss  # ^\n    else:\n        total += loss.item()',
    ],
    [
      'total = 0\nfor x in loader:\n    try:\n        total += criterion(model(x), x)  # ^\n    except RuntimeError:\n        pass\n    finally:\n        print(x)',
    ],
  ])('is found: %j', (body) => check(body));

  it.each([
    ['total = 0\nfor x in loader:\n    total += criterion(model(x), x).item()'],
    ['total = 0\nfor x in loader:\n    total += float(criterion(model(x), x))'],
    ['total = 0\nfor x in loader:\n    total += criterion(model(x), x).detach()'],
    ['total = 0\nwith torch.no_grad():\n    for x in loader:\n        total += criterion(model(x), x)'],
    ['total = 0\nfor x in loader:\n    total += (model(x).argmax(1) == x).sum()'],
    // Back-propagated, directly or by another name.
    ['total = 0\nfor x in loader:\n    total += criterion(model(x), x)\ntotal.backward()'],
    ['total = 0\nfor x in loader:\n    total += criterion(model(x), x)\nloss = total / 8\nloss.backward()'],
    // Anew in each round of the outer loop, where it is back-propagated.
    [
      'for e in range(3):\n    total = 0\n    for x in loader:\n        total += criterion(model(x), x)\n    total.backward()',
    ],
    // A local of one round.
    [
      'for x in loader:\n    total = criterion(model(x), x)\n    total += 0.1 * model(x).mean()\n    print(total.item())',
    ],
    // Nobody knows what this computes.
    ['total = 0\nfor x in loader:\n    total += compute(x)'],
    // Returned to somebody we do not see.
    ['total = 0\nfor x in loader:\n    total += criterion(model(x), x)\nsave(lambda: total)'],
    ['total = 0\nfor x in loader:\n    total += criterion(model(x), x)  # vram-lens: ignore[graph-summed]'],
  ])('is left alone: %j', (body) => check(body));

  it('is told apart by where backward stands', () => {
    const step = 'optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()';
    const loop = (inner: string): string =>
      `total = 0\nfor x in loader:\n    loss = criterion(model(x), x)\n    ${inner}`;
    expect(rulesOf(loop('total += loss'))).toEqual(['graph-summed error']);
    expect(rulesOf(loop(`${step}\n    total += loss`))).toEqual(['history-summed hint']);
    expect(rulesOf(loop('loss.backward(retain_graph=True)\n    total += loss'))).toEqual(['graph-summed error']);
    expect(rulesOf(loop('scaler.scale(loss).backward()\n    total += loss'))).toEqual(['history-summed hint']);
  });

  it('is found through aliases, classes and helpers of the file', () => {
    const source = [
      'import torch as t, torch.nn as layers',
      'from torch.nn.functional import cross_entropy as ce',
      'class Base(layers.Module):',
      '    pass',
      'class Net(Base):',
      '    def __init__(self):',
      '        super().__init__()',
      '        self.fc = layers.Linear(2, 2)',
      '    def forward(self, x):',
      '        return self.fc(x)',
      'def compute(net, x, y):',
      '    return ce(net(x), y)',
      'def main(batches):',
      '    net = Net().cuda()',
      '    total = 0.0',
      '    for x, y in batches:',
      '        total += compute(net, x, y)',
      '    print(float(total))',
    ].join('\n');
    expect(analyse(parser, source).map((finding) => lineOf(source, finding.start))).toEqual([17]);
  });
});

describe('a loss appended to a list', () => {
  it.each([
    ['losses = []\nfor x in loader:\n    losses.append(criterion(model(x), x))  # ^\nprint(len(losses))'],
    ['outputs = {"a": []}\nfor x in loader:\n    outputs["a"].append(model(x))  # ^'],
  ])('is found: %j', (body) => check(body));

  it.each([
    ['losses = []\nfor x in loader:\n    losses.append(criterion(model(x), x).item())'],
    ['losses = []\nfor x in loader:\n    losses.append(criterion(model(x), x))\nsum(losses).backward()'],
    ['losses = []\nfor x in loader:\n    losses.append(criterion(model(x), x))\n    losses.clear()'],
    ['for x in loader:\n    losses = []\n    losses.append(criterion(model(x), x))'],
    ['layers = []\nfor x in loader:\n    layers.append(nn.Linear(x, x))'],
    [
      'from collections import deque\nlosses = deque(maxlen=5)\nfor x in loader:\n    losses.append(criterion(model(x), x))',
    ],
  ])('is left alone: %j', (body) => check(body));
});

describe('names of the top level inside functions', () => {
  const marked = (...lines: string[]): [number[], number[]] => {
    const source = [
      'import torch',
      'from torch import nn',
      'net = nn.Linear(4, 4)',
      'criterion = nn.MSELoss()',
      ...lines,
    ].join('\n');
    const expected = source.split('\n').flatMap((line, index) => (line.includes('# ^') ? [index + 1] : []));
    return [analyse(parser, source).map((finding) => lineOf(source, finding.start)), expected];
  };
  const loop = ['    total = 0', '    for x in data:', '        total += criterion(net(x), x)', '    print(total)'];
  const found = loop.map((line) => line.replace('net(x), x)', 'net(x), x)  # ^'));

  it('are known', () => {
    const [lines, expected] = marked('def run(data):', ...found);
    expect(expected).toHaveLength(1);
    expect(lines).toEqual(expected);
  });

  it.each([
    ['a parameter of that name', ['def run(data, net):', ...loop]],
    ['a local of that name', ['def run(data):', '    net = load()', ...loop]],
    [
      'a local of the function around',
      ['def outer(data):', '    net = load()', '    def run():', ...loop.map((l) => `    ${l}`)],
    ],
    ['bound to other things too', ['net = load(net)', 'def run(data):', ...loop]],
    [
      'declared global by a function',
      ['def change():', '    global net', '    net = load()', 'def run(data):', ...loop],
    ],
    ['frozen', ['net.requires_grad_(False)', 'def run(data):', ...loop]],
    ['frozen one by one', ['for p in net.parameters():', '    p.requires_grad = False', 'def run(data):', ...loop]],
    ['in a file without gradients', ['torch.set_grad_enabled(False)', 'def run(data):', ...loop]],
  ])('are not taken for %s', (_, lines) => expect(marked(...lines)[0]).toEqual([]));
});

describe('a sum handed to another function', () => {
  const source = (step: string, inner: string): string =>
    script(`def step(loss):\n    ${inner}\ntotal = 0\nfor x in loader:\n    total += criterion(model(x), x)\n${step}`)
      .source;

  it.each([
    ['trainer.optimize(total / 3)', 'pass'],
    ['step(total)', 'loss.backward()'],
    ['from engine import update\nupdate(total)', 'pass'],
    ['step(loss=[total])', 'unseen(loss)'],
  ])('is left alone where that may back-propagate it: %s, %s', (step, inner) => {
    expect(analyse(parser, source(step, inner))).toEqual([]);
  });

  it.each([
    ['step(total)', 'print(loss)'],
    ['logger.info(total)', 'pass'],
    ['import numpy as np\nnp.round(total)', 'pass'],
    ['print(max(total, 1))', 'pass'],
  ])('is found where that cannot: %s, %s', (step, inner) => {
    expect(analyse(parser, source(step, inner)).map((finding) => finding.rule)).toEqual(['graph-summed']);
  });
});

describe('fixes', () => {
  const fixed = (body: string, index = 0): string => {
    const { source } = script(body);
    const [finding] = analyse(parser, source);
    const fix = finding?.fixes[index];
    return applyEdits(source, fix?.edits ?? [])
      .split('\n')
      .slice(4, -2)
      .join('\n');
  };

  it('keep the number where it is read as one', () => {
    const body = 'total = 0\nfor x in loader:\n    total += criterion(model(x), x)  # kept\nprint(float(total))';
    expect(fixed(body)).toContain('total += criterion(model(x), x).item()  # kept');
    expect(analyse(parser, script(body).source)[0]?.fixes.map((fix) => fix.safe)).toEqual([true, true]);
  });

  it('put parentheses around what is no single term', () => {
    expect(fixed('total = 0\nfor x in loader:\n    total += criterion(model(x), x) / 2')).toContain(
      'total += (criterion(model(x), x) / 2).item()',
    );
  });

  it('detach where the sum is used as a tensor, or has dimensions', () => {
    expect(fixed('total = 0\nfor x in loader:\n    total += criterion(model(x), x)\nprint(total.cpu())')).toContain(
      'total += criterion(model(x), x).detach()',
    );
    const { source } = script('outs = []\nfor x in loader:\n    outs.append(model(x))\ntorch.cat(outs)');
    const [found] = analyse(parser, source);
    const texts = found?.fixes.map((fix) => applyEdits(source, fix.edits)) ?? [];
    expect(found?.rule).toBe('inference-with-grad');
    expect(texts[0]).toContain('@torch.no_grad()\ndef run');
    expect(texts[1]).toContain('outs.append(model(x).detach())');
  });

  it('ask for the word of the user where the output may change', () => {
    const { source } = script('total = 0\nfor x in loader:\n    total += criterion(model(x), x)\nprint(total)');
    expect(analyse(parser, source)[0]?.fixes.map((fix) => fix.safe)).toEqual([false, false]);
  });
});

describe('the sample of this repository', () => {
  it('has its marked leak and nothing else', () => {
    const source = readFileSync(path.resolve(__dirname, '../../../samples/train.py'), 'utf8');
    const marked = source.split('\n').findIndex((line) => line.includes('# LEAK')) + 1;
    expect(marked).toBeGreaterThan(0);
    expect(analyse(parser, source).map((finding) => lineOf(source, finding.start))).toEqual([marked]);
  });
});

describe('bad input', () => {
  it.each([
    'import torch\nfor x in',
    'import torch\ndef f(:\n  total += loss(',
    'import torch\n\x00\ufffd\n\tx = [',
    `import torch\n${'('.repeat(500)}`,
    `import torch\nx = ${'['.repeat(200)}${']'.repeat(200)}`,
    '',
  ])('never throws: %j', (source) => {
    expect(() => analyse(parser, source)).not.toThrow();
  });
});
