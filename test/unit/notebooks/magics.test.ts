import { describe, expect, it } from 'vitest';
import { magicReplacements, withReplacements } from '../../../src/notebooks/magics';

const plain = (source: string): string => withReplacements(source, magicReplacements(source));
const lengths = (text: string): number[] => text.split('\n').map((line) => line.length);

describe("IPython's own syntax", () => {
  it.each([
    ['%matplotlib inline', 'inline;           '],
    ['%timeit -n 10 model(x)', 'model,x;              '],
    ['%time train(model)', '0;    train(model)'],
    ['%time for x in y: f(x)', 'x,y,f;                '],
    ['!pip install torch', '0                 '],
    ['!echo {loss} $step', 'loss,step;        '],
    ['model.forward??', 'model;         '],
    ['?model', 'model;'],
    ['/train model', 'train,model;'],
    ['files = !ls *.pt', 'files = 0       '],
    ['out = %time f(x)', 'out =       f(x)'],
    ['%xdel gram', 'del gram  '],
    ['if debug:\n    !nvidia-smi\n', 'if debug:\n    0          \n'],
    ['!pip install \\\n  torch\nx = 1', '0             \n       \nx = 1'],
    ['%%time\ntotal += loss', '0     \ntotal += loss'],
    ['\n%%bash\nrm -r "x\nls', '\n0     \n        \n  '],
    ['%%writefile train.py\nimport torch\r\n', 'train;              \n            \r\n'],
    ['!', '0'],
  ])('%j becomes %j', (source, expected) => {
    expect(plain(source)).toBe(expected);
    expect(lengths(plain(source))).toEqual(lengths(source));
  });

  it.each([
    'x = (a\n % b)',
    'text = """\n%time\n!ls\n"""',
    "x = 'what?'",
    'x = a \\\n  % b',
    'x = 5 % 3  # sure?',
    'print("= !ls")',
    'if a != b: pass',
    'y = await f(x)',
    "s = 'it\\'s'\nx = {\n  'a': 1,\n}",
  ])('%j is Python and stays', (source) => expect(plain(source)).toBe(source));

  it('keeps every length in any text', () => {
    const letters = ['%', '!', '?', '=', ' ', '\n', 'x', '"', "'", '(', ')', '\\', '#', '%%time', '"""', '\r\n', 'é'];
    let state = 7;
    for (let round = 0; round < 3000; round++) {
      let source = '';
      for (let length = 0; length < 12; length++) {
        state = (state * 1103515245 + 12345) % 2147483648;
        source += letters[(state >> 8) % letters.length];
      }
      expect(lengths(plain(source)), source).toEqual(lengths(source));
    }
  });
});
