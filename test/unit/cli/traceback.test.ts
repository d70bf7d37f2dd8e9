import { describe, expect, it } from 'vitest';
import { lastFailure } from '../../../src/cli/traceback';

const outOfMemory = `step 3
Traceback (most recent call last):
  File "/work/train.py", line 120, in <module>
    main()
  File "/work/train.py", line 95, in main
    optimizer.step()
  File "/venv/lib/python3.11/site-packages/torch/optim/adam.py", line 182, in step
    state = torch.zeros_like(
            ^^^^^^^^^^^^^^^^^
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB.
`;

describe('lastFailure', () => {
  it('finds the script’s own line of an out-of-memory', () => {
    expect(lastFailure(outOfMemory)).toEqual({
      file: '/work/train.py',
      line: 95,
      message: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB.',
      outOfMemory: true,
    });
  });

  it('takes the last traceback: what a handler raised, not what it caught', () => {
    const text = `${outOfMemory}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/work/my train.py", line 7, in <module>
    raise ValueError("no")
ValueError: no
`;
    expect(lastFailure(text)).toEqual({
      file: '/work/my train.py',
      line: 7,
      message: 'ValueError: no',
      outOfMemory: false,
    });
  });

  it.each([
    ['torch.cuda.OutOfMemoryError: CUDA out of memory. Tried', true],
    ['RuntimeError: CUDA error: out of memory', true],
    ['RuntimeError: shape mismatch', false],
    ['KeyboardInterrupt', false],
  ])('reads "%s"', (message, ranOut) => {
    const text = `Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    x\n${message}\n`;
    expect(lastFailure(text)).toMatchObject({ file: 'a.py', line: 1, message, outOfMemory: ranOut });
  });

  it('says nothing where there is no traceback, or only half of one', () => {
    expect(lastFailure('killed')).toBeNull();
    expect(lastFailure('Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n')).toBeNull();
  });
});
