import { text } from '../../finding';
import type { RuleExplanation } from './explanation';

/** Data, processes and tools: P37 to P46 of RULES.md. */
export const environmentExplanations: readonly RuleExplanation[] = [
  {
    rule: 'dataloader-in-loop',
    severity: 'hint',
    title: text('A DataLoader is built again in every round'),
    finds: text('A DataLoader with persistent workers is made inside a loop, or its iterator is kept.'),
    costs: text('Each one starts workers that stay: host memory grows, and pinned memory with it.'),
    fix: text('Build the loader once, before the loop.'),
    example: [
      'for epoch in range(epochs):',
      '    loader = DataLoader(data, num_workers=4, persistent_workers=True)',
      '    train(loader)',
    ].join('\n'),
    better: [
      'loader = DataLoader(data, num_workers=4, persistent_workers=True)',
      'for epoch in range(epochs):',
      '    train(loader)',
    ].join('\n'),
  },
  {
    rule: 'tensor-between-processes',
    severity: 'hint',
    title: text('GPU tensors are sent to another process'),
    finds: text('A tensor on the GPU is put into a queue between processes or threads.'),
    costs: text(
      'The sender keeps the memory until the receiver has dropped the tensor; an unbounded queue holds many.',
    ),
    fix: text('Send host copies, and bound the queue.'),
    example: 'queue.put(features)',
    better: 'queue.put(features.detach().cpu())',
  },
  {
    rule: 'double-residency',
    severity: 'hint',
    title: text('The same data is kept twice'),
    finds: text(
      'A copy is made, on the device or in another precision, and the original stays bound although only the copy is used.',
    ),
    costs: text('Both are resident during everything that follows.'),
    fix: text('Bind the copy to the same name, or move the data as late as possible.'),
    example: ['x_half = x.half()', 'train(model, x_half)'].join('\n'),
    better: ['x = x.half()', 'train(model, x)'].join('\n'),
  },
  {
    rule: 'reference-cycle',
    severity: 'hint',
    title: text('A reference cycle holds tensors'),
    finds: text(
      'Objects with tensors refer to each other: a child to its parent module, a callback to its trainer, a lambda on self to self.',
    ),
    costs: text(
      "They are freed only when Python's cyclic collector runs, and that counts objects, not the gigabytes behind them.",
    ),
    fix: text('Use weakref for the way back, or close() explicitly. Here one gc.collect() per epoch is right.'),
    example: 'child.parent = self',
    better: 'child.parent = weakref.ref(self)',
  },
  {
    rule: 'diagnostics-left-on',
    severity: 'hint',
    title: text('Diagnostics are left on in training code'),
    finds: text(
      'Anomaly detection, a profiler without a schedule, or unbounded recording of memory history runs around the training.',
    ),
    costs: text('They keep a traceback or an event per operation: steps are slow and host memory grows.'),
    fix: text('Switch them on for a few steps only.'),
    example: ['torch.autograd.set_detect_anomaly(True)', 'train(model)'].join('\n'),
    better: 'train(model)',
  },
  {
    rule: 'finder-leftovers',
    severity: 'hint',
    title: text('A learning-rate or batch-size finder leaves its copies'),
    finds: text('A search before the training keeps a copy of the state dict, optimizer state or losses.'),
    costs: text('Gigabytes of weights and optimizer state stay resident during the real training.'),
    fix: text('Run the search in a function that returns a number; then gc.collect() once.'),
    example: [
      'saved = copy.deepcopy(model.state_dict())',
      'rate = find_rate(model)',
      'model.load_state_dict(saved)',
      'train(model, rate)',
    ].join('\n'),
    better: [
      'saved = copy.deepcopy(model.state_dict())',
      'rate = find_rate(model)',
      'model.load_state_dict(saved)',
      'del saved',
      'train(model, rate)',
    ].join('\n'),
  },
  {
    rule: 'input-chain-not-detached',
    severity: 'error',
    title: text('An optimised input keeps the chain of its steps'),
    finds: text('An image or latent is updated from itself and its gradient in a loop, without being detached.'),
    costs: text('The graph of every earlier step stays: memory and time grow with each one.'),
    fix: text('Start each step from a leaf: x = (x + step).detach().requires_grad_(True).'),
    example: 'x = x + rate * gradient.sign()',
    better: 'x = (x + rate * gradient.sign()).detach().requires_grad_(True)',
  },
  {
    rule: 'placebo-free',
    severity: 'hint',
    title: text('Clean-up that has no effect'),
    finds: text(
      'A del just before the function returns, gc.collect() without a cycle, del of a parameter that the caller holds, and the like.',
    ),
    costs: text('It frees nothing, and costs time or hides where the memory really is.'),
    fix: text('Remove it.'),
    example: ['def step(x):', '    loss = run(x)', '    value = loss.item()', '    del loss', '    return value'].join(
      '\n',
    ),
    better: ['def step(x):', '    return run(x).item()'].join('\n'),
  },
  {
    rule: 'structural-advice',
    severity: 'hint',
    title: text('Ways to need less memory that are no leaks'),
    finds: text(
      'Offered on request only: gradient checkpointing, autocast, in-place activations, fused losses for large vocabularies.',
    ),
    costs: text('Nothing is wrong; the peak of a training step can be lower.'),
    fix: text('Recompute activations instead of keeping them: torch.utils.checkpoint.checkpoint.'),
    example: 'x = block(x)',
    better: 'x = checkpoint(block, x, use_reentrant=False)',
  },
  {
    rule: 'autocast-cache',
    severity: 'hint',
    title: text('One autocast region around the whole loop'),
    finds: text('An autocast context is entered once around an epoch or a training, not per step.'),
    costs: text('Weights that were cast to half precision are cached until the region ends.'),
    fix: text('Enter it around the forward pass of each step.'),
    example: ['with torch.autocast("cuda"):', '    for x, y in loader:', '        step(x, y)'].join('\n'),
    better: ['for x, y in loader:', '    with torch.autocast("cuda"):', '        step(x, y)'].join('\n'),
  },
];
