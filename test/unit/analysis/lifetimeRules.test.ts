import type { Parser } from 'web-tree-sitter';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyse, applyEdits } from '../../../src/analysis/analyse';
import { lineOf, testParser } from './testParser';

let parser: Parser;
beforeAll(async () => {
  parser = await testParser();
});

const head = ['import atexit, copy, functools, gc, sys', 'import torch', 'from torch import nn', ''];

function found(lines: readonly string[]): string[] {
  const source = [...head, ...lines].join('\n');
  expect(parser.parse(source)?.rootNode.hasError).toBe(false);
  return analyse(parser, source).map(({ rule, start }) => `${rule} ${lineOf(source, start) - head.length}`);
}

/** The text after the preferred fix of the only finding; nothing is found in it. */
function fixed(lines: readonly string[]): string {
  const source = [...head, ...lines].join('\n');
  const [finding, ...more] = analyse(parser, source);
  expect(more).toEqual([]);
  const text = applyEdits(source, finding?.fixes[0]?.edits ?? []);
  expect(parser.parse(text)?.rootNode.hasError).toBe(false);
  expect(analyse(parser, text)).toEqual([]);
  return text.split('\n').slice(head.length).join('\n');
}

const training = [
  '    for x in loader:',
  '        loss = model(x).mean()',
  '        loss.backward()',
  '        opt.step()',
];

describe('free-every-iteration', () => {
  const run = (...body: string[]): string[] => ['def run(model, opt, loader):', ...training, ...body];

  it.each([
    [['        if torch.cuda.is_available():', '            torch.cuda.empty_cache()'], [7]],
    [['        if loss.item() % 10 == 0:', '            torch.cuda.empty_cache()'], []],
    [['        if loss.item() > 3:', '            gc.collect()'], []],
    [['    gc.collect()'], []],
  ])('%j', (body, lines) => {
    expect(found(run(...body))).toEqual(lines.map((line) => `free-every-iteration ${line}`));
  });

  it('goes with the branch it is alone in', () => {
    const source = run(
      '        gc.collect()',
      '        if torch.cuda.is_available():',
      '            torch.cuda.empty_cache()',
    );
    expect(fixed([...source, '    return 0'])).toBe([...run(), '    return 0'].join('\n'));
  });

  it('leaves loops alone that make a model per round', () => {
    const trial = ['def run(loader):', '    for width in (8, 16):', '        model = nn.Linear(width, 1)'];
    expect(
      found([...trial, '        model(loader[0]).mean().backward()', '        gc.collect()', '        del model']),
    ).toEqual([]);
  });
});

describe('exception-keeps-frames', () => {
  const attempt = [
    'def run(model, loader):',
    '    failed = []',
    '    for x in loader:',
    '        try:',
    '            model(x).mean().backward()',
  ];

  it.each([
    ['except RuntimeError as e:', 'failed.append((x.shape, e))', [7]],
    ['except RuntimeError:', 'failed.append(sys.exc_info()[1])', [7]],
    ['except RuntimeError:', 'failed.append(sys.exc_info()[0])', []],
    ['except RuntimeError as e:', 'failed.append(repr(e))', []],
    ['except RuntimeError as e:', 'failed.append(e.with_traceback(None))', []],
    ['except ImportError as e:', 'failed.append(e)', []],
  ])('%s %s', (caught, statement, lines) => {
    const source = [...attempt, `        ${caught}`, `            ${statement}`];
    expect(found(source)).toEqual(lines.map((line) => `exception-keeps-frames ${line}`));
  });

  it('moves the second attempt behind the try, under a name that is free', () => {
    const source = [
      'def run(model, x):',
      '    failed = 0',
      '    try:',
      '        y = model(x)',
      '    except RuntimeError as e:',
      '        if "out of memory" in str(e):',
      '            # smaller',
      '            y = torch.cat([model(part) for part in x.chunk(4)])',
      '        else:',
      '            raise',
      '    return y, failed',
      'print(run(nn.Linear(2, 2), torch.randn(4, 2)))',
    ];
    expect(fixed(source).split('\n').slice(1, 13)).toEqual([
      '    failed = 0',
      '    retry = False',
      '    try:',
      '        y = model(x)',
      '    except RuntimeError as e:',
      '        if "out of memory" in str(e):',
      '            # smaller',
      '            retry = True',
      '        else:',
      '            raise',
      '    if retry:',
      '        y = torch.cat([model(part) for part in x.chunk(4)])',
    ]);
  });
});

describe('captured-tensor', () => {
  const run = (...body: string[]): string[] => [
    'def report(value):',
    '    print(value)',
    'def later(out):',
    '    return lambda: report(out)',
    'def run(model, loader):',
    '    queue = []',
    '    for x in loader:',
    '        out = model(x)',
    ...body.map((line) => `        ${line}`),
    '    for call in queue:',
    '        call()',
    'run(nn.Linear(2, 2), [])',
  ];

  it.each([
    ['queue.append(lambda out=out: report(out))', true],
    ['queue.append(functools.partial(report, out))', true],
    ['queue.append(later(out))', true],
    ['atexit.register(report, out)', true],
    ['queue.append(lambda: report(out))', false],
    ['queue.append(functools.partial(report, out.mean().item()))', false],
    ['queue.append(later(out.detach().cpu()))', false],
  ])('%s', (statement, isFound) => {
    expect(found(run(statement))).toEqual(isFound ? ['captured-tensor 9'] : []);
  });
});

describe('tensors handed to methods that keep them', () => {
  const classes = [
    'class Mean:',
    '    def __init__(self):',
    '        self.total, self.n = 0.0, 0',
    '    def update(self, value, n=1):',
    '        self.total += value * n',
    '        self.n += n',
    'class RunLog:',
    '    def __init__(self):',
    '        self.rows = []',
    '    def log(self, step, **values):',
    '        self.rows.append((step, values))',
  ];
  const run = (call: string): string[] => [
    ...classes,
    'def run(model, opt, loader):',
    '    mean, log = Mean(), RunLog()',
    '    for step, x in enumerate(loader):',
    '        out = model(x)',
    '        loss = out.mean()',
    '        loss.backward()',
    '        opt.step()',
    `        ${call}`,
    '    return float(mean.total), len(log.rows)',
    'net = nn.Linear(2, 2)',
    'print(run(net, torch.optim.SGD(net.parameters(), lr=0.1), []))',
  ];

  it.each([
    ['mean.update(loss, 2)', ['meter-stores-graph 19']],
    ['mean.update(value=loss)', ['meter-stores-graph 19']],
    ['mean.update(loss.item())', []],
    ['log.log(step, loss=loss.item(), out=out.detach())', ['logger-keeps-tensor 19']],
    ['log.log(step, loss=loss.item(), out=out.detach().cpu())', []],
  ])('%s', (call, rules) => {
    expect(found(run(call))).toEqual(rules);
  });
});

describe('suspended-generator', () => {
  const generator = ['def items(model, loader):', '    for x in loader:', '        yield model(x)'];
  const run = (...asking: string[]): string[] => [
    ...generator,
    'def run(model, opt, loader):',
    ...asking.map((line) => `    ${line}`),
    ...training,
    'net = nn.Linear(2, 2)',
    'run(net, torch.optim.SGD(net.parameters(), lr=0.1), [])',
  ];

  it('is found where nothing asks it again, and let go of', () => {
    const source = run('stream = items(model, loader)', 'print(next(stream).shape)');
    expect(found(source)).toEqual(['suspended-generator 5']);
    expect(fixed(source)).toContain('    print(next(stream).shape)\n    del stream\n');
  });

  it.each([
    [['stream = items(model, loader)', 'print(next(stream).shape)', 'stream.close()']],
    [['for item in items(model, loader):', '    print(item.shape)']],
  ])('is left alone in %j', (asking) => {
    expect(found(run(...asking))).toEqual([]);
  });

  it('leaves recording off in the loop that asks it', () => {
    const source = [
      'def items(model, loader):',
      '    with torch.no_grad():',
      '        for x in loader:',
      '            yield model(x)',
    ];
    const loop = [
      'def run(model, loader):',
      '    for target in items(model, loader):',
      '        (model(target) - target).mean().backward()',
    ];
    expect(found([...source, ...loop, 'run(nn.Linear(2, 2), [])'])).toEqual(['suspended-generator 4']);
  });
});
