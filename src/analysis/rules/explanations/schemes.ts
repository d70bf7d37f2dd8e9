import { text } from '../../finding';
import type { RuleExplanation } from './explanation';

/** Training schemes: P20 to P27 of RULES.md. */
export const schemesExplanations: readonly RuleExplanation[] = [
  {
    rule: 'fake-not-detached',
    severity: 'warning',
    title: text('The discriminator step back-propagates into the generator'),
    finds: text("The discriminator's loss is computed from generated samples that still carry the generator's graph."),
    costs: text(
      "The generator's graph is kept through the discriminator step, its backward is computed for nothing, and its gradients are wrong.",
    ),
    fix: text("Call the discriminator with fake.detach() in its own step, and with fake in the generator's."),
    example: ['d_loss = criterion(D(fake), zeros)', 'd_loss.backward(retain_graph=True)'].join('\n'),
    better: ['d_loss = criterion(D(fake.detach()), zeros)', 'd_loss.backward()'].join('\n'),
  },
  {
    rule: 'rollout-keeps-history',
    severity: 'error',
    title: text('A rollout or replay memory keeps graphs'),
    finds: text(
      'Log-probabilities, values or entropies from the policy are stored with their graph and never cleared, or go into a replay memory.',
    ),
    costs: text('Every stored step keeps its forward graph; memory grows with the number of steps taken.'),
    fix: text(
      'Act under torch.no_grad() or store detached host values. Clear every per-episode list after the update.',
    ),
    example: 'memory.append((state, action, policy(state)))',
    better: ['with torch.no_grad():', '    q = policy(state)', 'memory.append((state, action, q.cpu()))'].join('\n'),
  },
  {
    rule: 'hook-stores-activation',
    severity: 'warning',
    title: text('A hook stores activations, or its handle is never removed'),
    finds: text(
      'A forward or backward hook appends what it is given, or hooks are registered again and again without remove().',
    ),
    costs: text('Each forward pass adds its activations, with their graph if they were not detached.'),
    fix: text('Overwrite one slot with output.detach(), clear it after use, and remove the handle in a finally block.'),
    example: ['def hook(module, inputs, output):', '    features.append(output)'].join('\n'),
    better: ['def hook(module, inputs, output):', '    features["layer4"] = output.detach()'].join('\n'),
  },
  {
    rule: 'backward-create-graph',
    severity: 'error',
    title: text('backward(create_graph=True) makes a cycle nothing collects'),
    finds: text('A backward is called with create_graph=True, so that gradients have a graph of their own.'),
    costs: text(
      "A parameter leads to its gradient, the gradient's graph leads to the parameter: a cycle in C++ that gc.collect() cannot see. Memory grows each step.",
    ),
    fix: text(
      'Use torch.autograd.grad(..., create_graph=True), which stores nothing in .grad; or set .grad to None after use.',
    ),
    example: ['out.sum().backward(create_graph=True)', 'gradient = x.grad'].join('\n'),
    better: 'gradient, = torch.autograd.grad(out.sum(), x, create_graph=True)',
  },
  {
    rule: 'average-keeps-graph',
    severity: 'error',
    title: text('A running average is built from tensors with a graph'),
    finds: text(
      'A value is computed from its own previous value and a tensor that carries a graph: a moving average of the loss, of weights, running statistics.',
    ),
    costs: text(
      'The graph gets one level deeper per step and is never freed; in the end even freeing it can overflow the stack.',
    ),
    fix: text('Use loss.item() for a number; update weights under torch.no_grad() with lerp_; detach statistics.'),
    example: 'average = 0.98 * average + 0.02 * loss',
    better: 'average = 0.98 * average + 0.02 * loss.item()',
  },
  {
    rule: 'queue-keeps-graph',
    severity: 'error',
    title: text('A memory queue is fed with graphs'),
    finds: text('A bank, queue or buffer is built from itself and from a tensor that carries a graph.'),
    costs: text('Limiting the length does not limit the graph: each new queue keeps those of all before it.'),
    fix: text('Compute the keys under torch.no_grad(), or enqueue keys.detach().'),
    example: 'queue = torch.cat([keys, queue])[:size]',
    better: 'queue = torch.cat([keys.detach(), queue])[:size]',
  },
  {
    rule: 'frozen-model-with-grad',
    severity: 'warning',
    title: text('A frozen model runs with autograd on'),
    finds: text('A teacher, target or reference model whose output is only a target runs without torch.no_grad().'),
    costs: text(
      'Its activations are saved for a backward that never needs them, and gradients of its weights may be stored.',
    ),
    fix: text(
      'Put torch.no_grad() around the call. Where gradients have to flow through it to its input, set requires_grad_(False) on its parameters instead.',
    ),
    example: ['target = teacher(x)', 'loss = distance(student(x), target)'].join('\n'),
    better: ['with torch.no_grad():', '    target = teacher(x)', 'loss = distance(student(x), target)'].join('\n'),
  },
  {
    rule: 'ctx-attribute',
    severity: 'warning',
    title: text('A custom function keeps tensors on ctx'),
    finds: text(
      'forward of an autograd.Function assigns a tensor to an attribute of ctx instead of saving it for backward.',
    ),
    costs: text(
      'If it is the output, output and ctx hold each other: the memory stays until the garbage collector happens to run.',
    ),
    fix: text('Use ctx.save_for_backward(y) and ctx.saved_tensors.'),
    example: ['ctx.y = y', 'return y'].join('\n'),
    better: ['ctx.save_for_backward(y)', 'return y'].join('\n'),
  },
];
