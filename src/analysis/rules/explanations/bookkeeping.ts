import { text } from '../../finding';
import type { RuleExplanation } from './explanation';

/** What frameworks and scripts keep books of: P09 to P14 of RULES.md. */
export const bookkeepingExplanations: readonly RuleExplanation[] = [
  {
    rule: 'step-outputs-not-cleared',
    severity: 'warning',
    title: text('Outputs of training steps are never cleared'),
    finds: text(
      'A Lightning module or trainer appends to a list of its own in every step, and no epoch hook clears it; or a step returns tensors with their graph.',
    ),
    costs: text(
      'The list grows through the whole training: tensors of every step stay on the GPU, with their graph if they were not detached.',
    ),
    fix: text('Append detached values, and clear the list in on_train_epoch_end (or the hook of that phase).'),
    example: [
      'def training_step(self, batch, index):',
      '    loss = self.loss(batch)',
      '    self.outputs.append(loss)',
      '    return loss',
    ].join('\n'),
    better: [
      'def training_step(self, batch, index):',
      '    loss = self.loss(batch)',
      '    self.outputs.append(loss.detach())',
      '    return loss',
      '',
      'def on_train_epoch_end(self):',
      '    self.outputs.clear()',
    ].join('\n'),
  },
  {
    rule: 'model-rebuilt-while-alive',
    severity: 'warning',
    title: text('A new model is built while the old one is alive'),
    finds: text(
      'A loop builds a model per fold, trial or seed and binds it to the same name. The right-hand side is evaluated before the old object is released, and the optimizer, the loss or the output may hold it longer.',
    ),
    costs: text(
      'Two models with their optimizer states are resident at once; the peak of the second trial is that of both.',
    ),
    fix: text(
      'Move the body into a function that returns plain numbers. Otherwise delete every holder at the end of the round, then gc.collect() and torch.cuda.empty_cache() once.',
    ),
    example: [
      'for seed in seeds:',
      '    model = Net().cuda()',
      '    optimizer = Adam(model.parameters())',
      '    train(model, optimizer)',
    ].join('\n'),
    better: [
      'def trial(seed):',
      '    model = Net().cuda()',
      '    return train(model, Adam(model.parameters()))',
      '',
      'scores = [trial(seed) for seed in seeds]',
    ].join('\n'),
  },
  {
    rule: 'notebook-global',
    severity: 'hint',
    title: text('A notebook keeps a GPU tensor nobody reads again'),
    finds: text(
      'A large value is bound at the top level of a notebook and no other cell reads it, or a cell displays a tensor, which IPython stores in Out.',
    ),
    costs: text('Names of a kernel live until it restarts. The memory stays taken while the next cells run.'),
    fix: text(
      'Delete the name at the end of the last cell that uses it; end a displaying cell with a semicolon; %reset -f out clears what was displayed.',
    ),
    example: ['gram = features @ features.T', 'nearest = gram.topk(5).indices'].join('\n'),
    better: ['gram = features @ features.T', 'nearest = gram.topk(5).indices', 'del gram'].join('\n'),
  },
  {
    rule: 'exception-keeps-frames',
    severity: 'warning',
    title: text('A kept exception holds the tensors of its frames'),
    finds: text(
      'An exception or traceback is stored, or work is retried inside the except block, while the frames of the failed attempt are still held.',
    ),
    costs: text(
      'Every local tensor of every frame of the failed attempt stays allocated: a retry with a smaller batch runs out of memory as well.',
    ),
    fix: text('Keep str(error). Set a flag in the except block and retry after the try statement.'),
    example: ['try:', '    step(batch)', 'except RuntimeError:', '    step(batch[:8])'].join('\n'),
    better: [
      'failed = False',
      'try:',
      '    step(batch)',
      'except RuntimeError:',
      '    failed = True',
      'if failed:',
      '    step(batch[:8])',
    ].join('\n'),
  },
  {
    rule: 'free-while-referenced',
    severity: 'warning',
    title: text('empty_cache() while the tensors are still referenced'),
    finds: text(
      'torch.cuda.empty_cache() or gc.collect() runs while names that are not read again still hold large values.',
    ),
    costs: text('The call frees none of it: only memory that no live tensor uses can go back to the driver.'),
    fix: text('Delete the names first: del, then gc.collect() if there is a cycle, then empty_cache().'),
    example: ['train(model)', 'torch.cuda.empty_cache()', 'other = Other().cuda()'].join('\n'),
    better: ['train(model)', 'del model', 'torch.cuda.empty_cache()', 'other = Other().cuda()'].join('\n'),
  },
  {
    rule: 'free-every-iteration',
    severity: 'hint',
    title: text('empty_cache() or gc.collect() in every step'),
    finds: text('A training step empties the cache or collects garbage each time.'),
    costs: text(
      'Each step asks the driver for the memory again, and a collection takes tens of milliseconds; public measurements show trainings that take twice as long.',
    ),
    fix: text('Move it out of the loop, or do it every N steps.'),
    example: ['for batch in loader:', '    train_step(batch)', '    torch.cuda.empty_cache()'].join('\n'),
    better: ['for batch in loader:', '    train_step(batch)'].join('\n'),
  },
];
