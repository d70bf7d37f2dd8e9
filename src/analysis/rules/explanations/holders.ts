import { text } from '../../finding';
import type { RuleExplanation } from './explanation';

/** Long-lived holders: P28 to P36 of RULES.md. */
export const holdersExplanations: readonly RuleExplanation[] = [
  {
    rule: 'cached-method',
    severity: 'warning',
    title: text('lru_cache on a method or on tensors'),
    finds: text(
      'functools.lru_cache or cache decorates a method of a module, or a function that is called with tensors.',
    ),
    costs: text(
      'The cache belongs to the class: it keeps every self and every tensor it was called with. Tensors are told apart by identity, so it never hits.',
    ),
    fix: text('Remove it, or cache per instance by plain numbers.'),
    example: ['@lru_cache(maxsize=None)', 'def mask(self, x):', '    return build(x.shape[1])'].join('\n'),
    better: [
      'def mask(self, x):',
      '    length = x.shape[1]',
      '    if length not in self.masks:',
      '        self.masks[length] = build(length)',
      '    return self.masks[length]',
    ].join('\n'),
  },
  {
    rule: 'unbounded-cache',
    severity: 'hint',
    title: text('A cache of tensors has no bound'),
    finds: text(
      'Tensors are stored in a container that lives as long as the class, the module or the function itself: a class attribute, a global, a default argument.',
    ),
    costs: text('It only ever grows; a default list is shared by all calls.'),
    fix: text('Bound it, key it by something that repeats, keep host copies, and write store=None.'),
    example: ['def log(x, store=[]):', '    store.append(x)'].join('\n'),
    better: [
      'def log(x, store=None):',
      '    store = [] if store is None else store',
      '    store.append(x.detach().cpu())',
    ].join('\n'),
  },
  {
    rule: 'captured-tensor',
    severity: 'warning',
    title: text('A stored callback captures a tensor'),
    finds: text(
      'A lambda, partial or function made in a loop is stored, and one of its defaults or arguments is a tensor.',
    ),
    costs: text('Every stored callback keeps its tensor, with the graph behind it, until it is dropped.'),
    fix: text('Bind numbers, not tensors.'),
    example: 'tasks.append(lambda out=out: report(out))',
    better: ['mean = out.mean().item()', 'tasks.append(lambda mean=mean: report(mean))'].join('\n'),
  },
  {
    rule: 'suspended-generator',
    severity: 'warning',
    title: text('A paused generator keeps its frame alive'),
    finds: text(
      'A generator is read with next() and stays paused, with tensors in its frame, while other work runs; or it yields inside torch.no_grad().',
    ),
    costs: text(
      'Its local tensors stay allocated. A yield inside torch.no_grad() also leaves autograd off in the caller while the generator is paused.',
    ),
    fix: text('Close it, stream.close(), or take the first item in a function of its own.'),
    example: ['stream = features(loader)', 'first = next(stream)', 'train(model)'].join('\n'),
    better: ['stream = features(loader)', 'first = next(stream)', 'stream.close()', 'train(model)'].join('\n'),
  },
  {
    rule: 'view-keeps-storage',
    severity: 'warning',
    title: text('A small view keeps a large tensor alive'),
    finds: text(
      'A slice, row or chunk of a large tensor is kept after the tensor itself is out of use. Views share the whole storage.',
    ),
    costs: text('Keeping one row keeps all rows: up to a hundred times the memory one expects.'),
    fix: text('Copy what is kept: hidden[:, 0].clone(), or .cpu() when the source is on the GPU.'),
    example: 'cls.append(hidden[:, 0].detach())',
    better: 'cls.append(hidden[:, 0].detach().clone())',
  },
  {
    rule: 'logger-keeps-tensor',
    severity: 'hint',
    title: text('A log or tracker keeps tensors'),
    finds: text('Tensors are handed to a logger or stored in a run log that keeps what it is given.'),
    costs: text('Device memory and autograd nodes stay for as long as the log does.'),
    fix: text('Log numbers: loss.item(), or x.detach().cpu().numpy().'),
    example: 'run_log[step] = {"loss": loss}',
    better: 'run_log[step] = {"loss": loss.item()}',
  },
  {
    rule: 'metric-not-reset',
    severity: 'warning',
    title: text('A metric with list state is never reset'),
    finds: text('A metric that stores every prediction is updated in each epoch and computed, but never reset.'),
    costs: text('Its state grows with every batch of every epoch, on the GPU.'),
    fix: text('Call metric.reset() after metric.compute(); compute_on_cpu=True keeps the state on the host.'),
    example: 'score = metric.compute()',
    better: ['score = metric.compute()', 'metric.reset()'].join('\n'),
  },
  {
    rule: 'graphs-until-one-backward',
    severity: 'hint',
    title: text("All micro-batches' graphs live until one backward"),
    finds: text('Losses of several independent batches are collected and back-propagated together.'),
    costs: text('The graphs of all of them are in memory at once; the peak grows with their number.'),
    fix: text(
      'Back-propagate each at once, (loss / n).backward(): gradients add up to the same. Not where a loss couples the batches.',
    ),
    example: ['for x, y in micro_batches:', '    losses.append(criterion(net(x), y))', 'sum(losses).backward()'].join(
      '\n',
    ),
    better: ['for x, y in micro_batches:', '    criterion(net(x), y).backward()'].join('\n'),
  },
  {
    rule: 'gradients-kept',
    severity: 'hint',
    title: text('Gradients are kept longer than needed'),
    finds: text(
      'zero_grad(set_to_none=False) keeps zeroed gradients allocated, or gradients stay through evaluation and saving.',
    ),
    costs: text('As much GPU memory as the trained weights stays taken between the steps.'),
    fix: text('Call optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0, right after step().'),
    example: 'optimizer.zero_grad(set_to_none=False)',
    better: 'optimizer.zero_grad(set_to_none=True)',
  },
];
