import { text } from '../../finding';
import type { RuleExplanation } from './explanation';

/** Graphs kept by accident: P01 to P08 of RULES.md. */
export const historyExplanations: readonly RuleExplanation[] = [
  {
    rule: 'graph-summed',
    severity: 'error',
    title: text('A loss or metric is summed with its graph'),
    finds: text(
      'A tensor that carries a graph is added up over the rounds of a loop, and nothing back-propagates the sum.',
    ),
    costs: text(
      "Each addend links its round's forward graph to the sum, with every activation that graph saved. GPU memory grows every round until it runs out.",
    ),
    fix: text(
      "Add a number: loss.item(). In an evaluation loop also switch autograd off, with torch.no_grad() around it, which saves the forward's peak too.",
    ),
    example: ['for x, y in val_loader:', '    total += criterion(net(x), y)'].join('\n'),
    better: ['for x, y in val_loader:', '    total += criterion(net(x), y).item()'].join('\n'),
  },
  {
    rule: 'history-summed',
    severity: 'hint',
    title: text('A loss is summed after backward()'),
    finds: text('A loss is added up over the steps after backward() has freed its activations.'),
    costs: text(
      'The activations are gone, but every addend keeps its chain of autograd nodes: host memory grows each step, and on CUDA one small block per step stays allocated.',
    ),
    fix: text(
      'Add loss.item(), or loss.detach() where waiting for the GPU in every step is too slow, and convert once at the end.',
    ),
    example: ['loss.backward()', 'optimizer.step()', 'total += loss'].join('\n'),
    better: ['loss.backward()', 'optimizer.step()', 'total += loss.item()'].join('\n'),
  },
  {
    rule: 'graph-appended',
    severity: 'error',
    title: text('A tensor with its graph is kept in a container'),
    finds: text(
      'A tensor that carries a graph is stored, round after round, in a list, dict or attribute that outlives the loop, and nothing back-propagates it.',
    ),
    costs: text(
      "Every element keeps its round's graph and, where no backward has freed them, all its activations: GPU memory grows with the number of rounds.",
    ),
    fix: text(
      'Store what is needed later: loss.item() for a number, out.detach() for a tensor, out.detach().cpu() when it is not needed on the GPU.',
    ),
    example: ['for x, y in loader:', '    loss = criterion(net(x), y)', '    history.append(loss)'].join('\n'),
    better: ['for x, y in loader:', '    loss = criterion(net(x), y)', '    history.append(loss.item())'].join('\n'),
  },
  {
    rule: 'inference-with-grad',
    severity: 'error',
    title: text('Evaluation collects outputs with autograd on'),
    finds: text(
      'A function runs a model, never calls backward, and keeps the outputs beyond the round, with autograd switched on. model.eval() does not switch it off.',
    ),
    costs: text(
      'Every kept output holds the activations of its forward pass: evaluation needs more GPU memory than training.',
    ),
    fix: text(
      'Put @torch.no_grad() on the function, or torch.inference_mode() around the loop when the results never re-enter autograd.',
    ),
    example: ['def predict(net, loader):', '    return torch.cat([net(x) for x in loader])'].join('\n'),
    better: ['@torch.no_grad()', 'def predict(net, loader):', '    return torch.cat([net(x) for x in loader])'].join(
      '\n',
    ),
  },
  {
    rule: 'outputs-kept-on-device',
    severity: 'hint',
    title: text('All outputs of an evaluation stay on the GPU'),
    finds: text('The outputs of every batch are collected on the device, even though autograd is off.'),
    costs: text(
      'The memory is bounded by the data set, not by the batch: large vocabularies or images fill the card. Repeated torch.cat also copies everything again each time.',
    ),
    fix: text('Reduce first, then move: logits.argmax(-1).cpu(). Append to a list and concatenate once.'),
    example: ['for x in loader:', '    logits.append(net(x))'].join('\n'),
    better: ['for x in loader:', '    predictions.append(net(x).argmax(-1).cpu())'].join('\n'),
  },
  {
    rule: 'meter-stores-graph',
    severity: 'error',
    title: text('A meter object keeps the graph it is given'),
    finds: text(
      'A method of a helper class adds up or stores its argument, and is called with a tensor that carries a graph.',
    ),
    costs: text(
      'The call looks harmless; the object holds the graph of every step: activations without a backward, autograd nodes in host memory after one.',
    ),
    fix: text('Give it a number, meter.update(loss.item()), or convert inside the class: value = float(value).'),
    example: 'meter.update(loss, len(x))',
    better: 'meter.update(loss.item(), len(x))',
  },
  {
    rule: 'carried-state-not-detached',
    severity: 'error',
    title: text('Carried state is not detached between steps'),
    finds: text(
      'A hidden state or memory goes into a module and comes out of it in every round, and is never detached on the way.',
    ),
    costs: text(
      'The graph reaches back to the first round. Memory grows with every round, and the time of backward with it; retain_graph=True only hides the error.',
    ),
    fix: text(
      'Detach it before the next forward pass, h = h.detach(), every element of a tuple, and drop retain_graph=True.',
    ),
    example: [
      'for x, y in chunks:',
      '    out, h = rnn(x, h)',
      '    criterion(out, y).backward(retain_graph=True)',
    ].join('\n'),
    better: [
      'for x, y in chunks:',
      '    h = h.detach()',
      '    out, h = rnn(x, h)',
      '    criterion(out, y).backward()',
    ].join('\n'),
  },
  {
    rule: 'needless-retain-graph',
    severity: 'warning',
    title: text('retain_graph=True without a second backward'),
    finds: text('A backward keeps its graph, and no later backward of the same round uses it.'),
    costs: text(
      'The activations stay until the loss is bound anew: the next forward pass is computed while the old graph is still there.',
    ),
    fix: text('Remove retain_graph=True. Where several backwards share a graph, only the last one goes without it.'),
    example: ['loss.backward(retain_graph=True)', 'optimizer.step()'].join('\n'),
    better: ['loss.backward()', 'optimizer.step()'].join('\n'),
  },
];
