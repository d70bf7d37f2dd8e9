import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Call } from './calls';
import type { Evaluator } from './evaluate';
import { withoutGraph } from './operations';
import { noSites, site, union } from './sites';
import * as names from './torchNames';
import { container, plain, tensor, tuple, type TensorValue, type Value } from './value';

/** Value of a method of a tensor. */
export function tensorMethod(name: string, object: TensorValue, made: Call, evaluator: Evaluator): Value {
  const { node } = made;
  if (names.leaving.has(name) || name === 'backward' || name === 'register_hook') return plain;
  if (name === 'detach' || name === 'detach_') return withoutGraph(object);
  if (names.creatingMethods.has(name) || name === 'sample') return tensor(site(node, 'tensor'), { full: true });
  if (names.discrete.has(name)) {
    const full = object.full && names.elementwise.has(name);
    return tensor(site(node, 'tensor'), { scalar: object.scalar, full, host: object.host });
  }
  if (names.partialViews.has(name)) {
    const part: TensorValue = { ...object, scalar: false, full: false, partOf: node };
    return /split|chunk|unbind/.test(name) ? container(node, part) : part;
  }
  if (names.views.has(name)) return { ...object, scalar: false };
  if (names.casts.has(name)) return cast(name, object, made);
  if (names.reductions.has(name)) {
    if (made.args.length === 0 && made.keywords.size === 0) {
      const value = evaluator.result(node, [object]);
      return value.kind === 'tensor' ? { ...value, scalar: true, full: false, output: null } : value;
    }
    const value = reduced(evaluator.result(node, [object]));
    const answersBoth = ['max', 'min', 'topk', 'mode', 'median'].includes(name) && made.args[0]?.kind !== 'tensor';
    return answersBoth ? tuple([value, tensor(site(node, 'tensor'))]) : value;
  }
  if (name === 'sort') return tuple([evaluator.result(node, [object]), tensor(site(node, 'tensor'), { full: true })]);
  const result = evaluator.result(node, [object, ...made.args]);
  // In-place: the same memory.
  return name.endsWith('_') && result.kind === 'tensor' ? { ...result, own: object.own } : result;
}

function reduced(value: Value): Value {
  return value.kind === 'tensor' ? { ...value, full: false } : value;
}

/** A copy elsewhere or in another type, with its graph. */
function cast(name: string, object: TensorValue, { node, keywords }: Call): TensorValue {
  if (name === 'requires_grad_') {
    const off = /\(\s*False\s*\)|=\s*False/.test(node.childForFieldName('arguments')?.text ?? '');
    return off || object.graph === 'yes' ? object : { ...object, graph: 'yes', from: node };
  }
  if (name === 'contiguous') return { ...object };
  const own = site(node, object.graph === 'no' ? 'tensor' : 'recorded');
  const toHost = name === 'cpu' || (name === 'to' && isCpu(node));
  const movesAway = name === 'cuda' || (name === 'to' && !toHost && keywords.size > 0);
  const carries = object.graph !== 'no';
  return {
    ...object,
    ...{ own, partOf: null, holds: union([own], carries ? object.holds : noSites) },
    host: toHost || (object.host && !movesAway && name !== 'to'),
    moved: toHost && carries ? node : object.moved,
  };
}

/** `.to("cpu")`, `.to(device="cpu")`, `.to(torch.device("cpu"))`, `.to(cpu)` where the file binds it so. */
function isCpu(node: Node): boolean {
  const args = node.childForFieldName('arguments');
  return args !== null && children(args).some((arg) => cpu.test(arg.text) || isNamedCpu(arg, node));
}

const cpu = /^(device\s*=\s*)?(torch\.device\()?["']cpu["']\)?$/;

/** A name or attribute that the file binds to the CPU device, and to nothing else. */
function isNamedCpu(argument: Node, node: Node): boolean {
  if (!/cpu/i.test(argument.text) || !/^(identifier|attribute)$/.test(argument.type)) return false;
  let root = node;
  while (root.parent !== null) root = root.parent;
  const bound = [...descend(root)].filter(
    (one) => one.type === 'assignment' && one.childForFieldName('left')?.text === argument.text,
  );
  return bound.length > 0 && bound.every((one) => cpu.test(one.childForFieldName('right')?.text ?? ''));
}
