import { text } from '../../finding';
import type { RuleExplanation } from './explanation';

/** Whole models, checkpoints and copies: P15 to P19 of RULES.md. */
export const modelsExplanations: readonly RuleExplanation[] = [
  {
    rule: 'checkpoint-kept',
    severity: 'warning',
    title: text('A loaded checkpoint stays alive during training'),
    finds: text('The dictionary from torch.load is bound to a name and still there when training or inference begins.'),
    costs: text(
      'A second copy of the weights, often with the optimizer state, stays resident, on the GPU it was saved from if map_location is missing.',
    ),
    fix: text('Load to the host, torch.load(path, map_location="cpu"), and delete the name after the last use.'),
    example: ['checkpoint = torch.load(path)', 'model.load_state_dict(checkpoint["model"])', 'train(model)'].join('\n'),
    better: [
      'checkpoint = torch.load(path, map_location="cpu")',
      'model.load_state_dict(checkpoint["model"])',
      'del checkpoint',
      'train(model)',
    ].join('\n'),
  },
  {
    rule: 'weights-copied-on-device',
    severity: 'warning',
    title: text('Snapshots of the weights are copied on the GPU'),
    finds: text('copy.deepcopy of a model or of its state dict, or clones of its parameters, are kept on the device.'),
    costs: text('Every snapshot takes as much GPU memory as the model; in a list it grows with each epoch.'),
    fix: text('Copy to the host: a dict of v.detach().cpu().clone() per entry, or save to disk.'),
    example: ['if score > best_score:', '    best = copy.deepcopy(model.state_dict())'].join('\n'),
    better: [
      'if score > best_score:',
      '    best = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}',
    ].join('\n'),
  },
  {
    rule: 'incomplete-delete',
    severity: 'warning',
    title: text('del leaves other holders of the object'),
    finds: text('A model is deleted while its optimizer, scheduler, loss, wrapper or a hook still reaches it.'),
    costs: text(
      'Nothing is freed: the weights live as long as the last object that leads to them. A loss leads to them through its graph.',
    ),
    fix: text('Delete all holders in one statement.'),
    example: ['del model', 'torch.cuda.empty_cache()'].join('\n'),
    better: ['del model, optimizer, scheduler, loss', 'torch.cuda.empty_cache()'].join('\n'),
  },
  {
    rule: 'alive-across-peak',
    severity: 'warning',
    title: text('A value outlives its last use across a memory peak'),
    finds: text(
      'A large value is still bound while something that needs much memory runs: the next forward pass, an evaluation, the next model.',
    ),
    costs: text('The peak is higher by that value; the training may run out of memory at a batch size that would fit.'),
    fix: text(
      'Delete the names after their last use, at the bottom of the loop or after it, or move the loop into a function.',
    ),
    example: ['for x, y in loader:', '    logits = model(x)', '    step(logits, y)', 'evaluate(model)'].join('\n'),
    better: [
      'for x, y in loader:',
      '    logits = model(x)',
      '    step(logits, y)',
      '    del x, y, logits',
      'evaluate(model)',
    ].join('\n'),
  },
  {
    rule: 'device-move-keeps-graph',
    severity: 'error',
    title: text('A copy on the host keeps the graph on the GPU'),
    finds: text(
      'The result of .cpu(), .to() or .float() of a tensor with a graph is kept. Such copies are differentiable.',
    ),
    costs: text(
      'The list on the host keeps every graph with its activations on the GPU, although the values were moved.',
    ),
    fix: text('Detach first: out.detach().cpu().'),
    example: 'outputs.append(net(x).cpu())',
    better: 'outputs.append(net(x).detach().cpu())',
  },
];
