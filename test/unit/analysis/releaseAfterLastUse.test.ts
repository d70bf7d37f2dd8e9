import type { Parser } from 'web-tree-sitter';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyse, applyEdits, readProgram } from '../../../src/analysis/analyse';
import type { Range } from '../../../src/analysis/finding';
import { releaseAfterLastUse } from '../../../src/analysis/fixes/releaseAfterLastUse';
import { testParser } from './testParser';

let parser: Parser;
beforeAll(async () => {
  parser = await testParser();
});

/** Releases the name before the first `|`; answers the new text, the reason why there is none, or null. */
function release(marked: string, cells: readonly Range[] = []): string | null {
  const offset = marked.indexOf('|');
  const source = marked.replace('|', '');
  expect(parser.parse(source)?.rootNode.hasError).toBe(false);
  const program = readProgram(parser, source, { cells });
  const released = program === null ? null : releaseAfterLastUse(program, offset);
  if (released === null) return null;
  const { result } = released;
  if ('text' in result)
    return result.values.reduce((text, value, at) => text.replaceAll(`{${at}}`, value), result.text);
  const changed = applyEdits(source, result.edits);
  expect(parser.parse(changed)?.rootNode.hasError).toBe(false);
  const before = analyse(parser, source).map(({ rule }) => rule);
  expect(analyse(parser, changed).filter(({ rule }) => !before.includes(rule))).toEqual([]);
  return changed;
}

const lines = (...text: string[]): string => [...text, ''].join('\n');
const imports = ['import torch', 'from torch import nn'];

/** A program of the top level: `body` and what follows it, released. */
function released(body: string[], head = imports): string[] | string | null {
  const text = release(lines(...head, ...body));
  return text === null || !text.startsWith('import') ? text : text.trimEnd().split('\n');
}

const training = [
  'model| = nn.Linear(8, 8).cuda()',
  'optimizer = torch.optim.Adam(model.parameters())',
  'for x, y in loader:',
  '    loss = nn.functional.mse_loss(model(x), y)',
  '    optimizer.zero_grad()',
  '    loss.backward()',
  '    optimizer.step()',
];
const plain = (body: string[]): string[] => body.map((line) => line.replace('|', ''));

describe('a model', () => {
  it('goes with its optimizer and the last loss, behind the loop that uses them', () => {
    expect(released([...training, 'evaluate(other)'])).toEqual([
      ...['import torch', 'from torch import nn', 'import gc', ...plain(training)],
      ...['del model, optimizer', 'loss = None', 'gc.collect()', 'torch.cuda.empty_cache()', 'evaluate(other)'],
    ]);
  });

  it('is deleted with the loss where its use shows that it is bound', () => {
    expect(released([...training, 'print(loss.item())', 'evaluate(other)'])?.slice(-5)).toEqual([
      ...['print(loss.item())', 'del model, optimizer, loss', 'gc.collect()', 'torch.cuda.empty_cache()'],
      'evaluate(other)',
    ]);
  });

  it('is named at any of its uses', () => {
    const at = (line: string): string[] => [...plain(training), line, 'evaluate(other)'];
    expect(released(at('print(mod|el)'))).toEqual(released(at('print(model|)')));
    expect(released(at('print(|model)'))).not.toBeNull();
  });

  it('is released once per trial', () => {
    const body = ['for width in (8, 16):', ...training.map((line) => `    ${line}`), '    print(width)'];
    expect(released(body)?.slice(-5)).toEqual([
      ...['    del model, optimizer', '    loss = None', '    gc.collect()', '    torch.cuda.empty_cache()'],
      '    print(width)',
    ]);
  });

  it('that a branch uses last is released behind the branch', () => {
    const body = ['model| = nn.Linear(8, 8)', 'if verbose:', '    print(model(x))', 'else:', '    pass', 'other()'];
    expect(released(body)?.slice(-4)).toEqual(['del model', 'gc.collect()', 'torch.cuda.empty_cache()', 'other()']);
  });

  it('is not what a function calls by the same name', () => {
    const function_ = ['def evaluate(model):', '    return vars(model), [locals() for model in (1, 2)]'];
    const body = ['model| = nn.Linear(8, 8)', 'evaluate(model)', 'other()'];
    expect(released([...function_, ...body])).toContain('del model');
    const reader = ['def evaluate(x):', '    def inner():', '        return model(x)', '    return inner'];
    expect(released([...reader, ...body])).toMatch(/An inner function uses model/);
  });

  it('is released behind the comments that close a block', () => {
    const body = [
      'model| = nn.Linear(8, 8)',
      'for x in loader:',
      '    print(model(x))',
      '    # that is all',
      '# next',
      'other()',
    ];
    expect(released(body)?.slice(-6)).toEqual([
      ...['    # that is all', 'del model', 'gc.collect()', 'torch.cuda.empty_cache()', '# next', 'other()'],
    ]);
  });

  it('takes the calls that are there', () => {
    const body = ['model| = nn.Linear(8, 8)', 'print(model(x))', 'gc.collect()', 'torch.cuda.empty_cache()', 'other()'];
    expect(released(body, ['import gc', ...imports])).toEqual([
      ...['import gc', ...imports, ...plain(body.slice(0, 2)), 'del model', ...body.slice(2)],
    ]);
  });

  it.each([
    [['import gc', 'from torch import cuda, nn'], ['gc.collect()', 'cuda.empty_cache()'], []],
    [
      ['from gc import collect', 'from torch.cuda import empty_cache', 'from torch import nn'],
      ['collect()', 'empty_cache()'],
      [],
    ],
    [['from torch import nn'], ['gc.collect()', 'torch.cuda.empty_cache()'], ['import gc', 'import torch']],
    [['import torch as th', 'from torch import nn', 'import gc as g'], ['g.collect()', 'th.cuda.empty_cache()'], []],
  ])('with %j', (head, calls, added) => {
    const text = release(lines(...head, 'model| = nn.Linear(8, 8)', 'print(model(x))', 'other()'));
    const body = ['model = nn.Linear(8, 8)', 'print(model(x))', 'del model', ...calls, 'other()'];
    expect(text).toBe(lines(...head, ...added, ...body));
  });

  it('goes with a wrapper and with an object that was given it', () => {
    const body = ['model| = nn.Linear(8, 8)', 'trainer = Trainer(model)', 'trainer.fit()', 'other()'];
    expect(released(body)).toContain('del model, trainer');
  });

  it('keeps line ends and indentation', () => {
    const text =
      'import gc, torch\r\nfrom torch import nn\r\ndef f(x):\r\n\tmodel| = nn.Linear(8, 8)\r\n\tprint(model(x))\r\n\tother()\r\n';
    expect(release(text)).toContain(
      '\tprint(model(x))\r\n\tdel model\r\n\tgc.collect()\r\n\ttorch.cuda.empty_cache()\r\n',
    );
  });
});

describe('a tensor', () => {
  it('is deleted at the end of the round, without emptying the cache there', () => {
    const body = [
      'model = nn.Linear(8, 8)',
      'for x in loader:',
      '    out| = model(x)',
      '    print(out)',
      '    other()',
    ];
    expect(released(body)?.slice(-3)).toEqual(['    print(out)', '    del out', '    other()']);
  });

  it('of a loop that may run no round is set to None behind it', () => {
    const body = ['model = nn.Linear(8, 8)', 'out = None', 'for x in loader:', '    out| = model(x)', 'other()'];
    expect(released(body)).toContain('del out');
    expect(
      released([...body.slice(0, 1), ...body.slice(2, 4), 'print(1)', 'if y:', '    print(out)', 'other()']),
    ).toContain('out = None');
  });
});

describe('what cannot be released', () => {
  const inside = (...body: string[]): string => lines(...imports, 'def f(x):', ...body.map((line) => `    ${line}`));

  it.each([
    [
      'a parameter',
      lines(
        ...imports,
        'def f(model):',
        '    opt = torch.optim.SGD(model.parameters())',
        '    print(model|)',
        '    other()',
      ),
      null,
    ],
    [
      'a captured name',
      inside('model| = nn.Linear(8, 8)', 'call = lambda: model(x)', 'other(call)'),
      /An inner function uses model/,
    ],
    ['locals()', inside('model| = nn.Linear(8, 8)', 'print(model(x))', 'print(locals())'), /locals\(\)/],
    ['a global', inside('global model', 'model| = nn.Linear(8, 8)', 'print(model(x))', 'other()'), /scope around/],
    [
      'the end of the function',
      inside('model| = nn.Linear(8, 8)', 'y = model(x).argmax()', 'return y'),
      /the function ends/,
    ],
    ['a returned name', inside('model| = nn.Linear(8, 8)', 'return model'), /the function ends/],
    ['the end of the program', lines(...imports, 'model| = nn.Linear(8, 8)', 'print(model(x))'), /the program ends/],
    [
      'another holder',
      lines(
        ...imports,
        'class A:',
        '    def f(self, x):',
        '        model| = nn.Linear(8, 8)',
        '        self.model = model',
        '        other()',
      ),
      /self.model holds/,
    ],
    [
      'the next round',
      inside('h| = torch.zeros(8).cuda()', 'for i in range(3):', '    h = h * 2', '    other()', 'return 0'),
      null,
    ],
    ['a name that is gone', inside('model| = nn.Linear(8, 8)', 'print(model(x))', 'del model', 'other()'), /in line 6/],
    ['one line', inside('model| = nn.Linear(8, 8)', 'print(model(x)); other()', 'other()'), /shares its line/],
  ])('%s', (_, text, reason) => {
    if (reason !== null) expect(release(text)).toMatch(reason);
    else expect(typeof release(text)).toBe('string');
  });

  it.each([
    ['a number', lines(...imports, 'n| = 3', 'print(n)', 'other()')],
    ['an import', lines('import tor|ch', 'other()')],
    ['an attribute', lines(...imports, 'model = nn.Linear(8, 8)', 'print(model.wei|ght)', 'other()')],
    ['a keyword', lines(...imports, 'model = nn.Linear(8, 8)', 'print(mod|el=1)', 'other()')],
    ['a file without torch', lines('model| = 3', 'other()')],
  ])('nothing is said of %s', (_, text) => expect(release(text)).toBeNull());

  it('names that several cells of a notebook use', () => {
    const first = lines(...imports, 'model| = nn.Linear(8, 8)');
    const cells = (second: string): Range[] => [
      { start: 0, end: first.length - 1 },
      { start: first.length - 1, end: first.length - 1 + second.length },
    ];
    expect(release(first + 'print(model(x))\n', cells('print(model(x))\n'))).toMatch(/Several cells/);
    expect(release(first + 'print(1)\n', cells('print(1)\n'))).toContain('del model');
  });
});
