import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import type { Call } from './calls';
import type { Evaluator } from './evaluate';
import { models, noSites, site, union } from './sites';
import { isQueue, queue, started, startsFunctions } from './processes';
import * as names from './torchNames';
import { container, element, join, module, plain, tensor, tuple, unknown, unknownHolding, type Value } from './value';

/** Libraries whose results hold no tensor. */
const plainLibraries =
  /^(math|random|time|os|sys|json|csv|re|logging|numpy|pathlib|datetime|shutil|glob|tempfile|argparse|gc|statistics|warnings)\./;
const plainTorch =
  /^torch\.(device|cuda|backends|manual_seed|no_grad|inference_mode|enable_grad|set_grad_enabled|is_tensor|get_default_dtype|distributed|Size|Generator|finfo|iinfo|save|version)\b/;
/** They answer their first argument, one by one, in another order, with a bar. */
const passing =
  /^(tqdm\.(\w+\.)?\w*tqdm|tqdm\.(\w+\.)?trange|itertools\.(cycle|islice|takewhile)|rich\.progress\.track)$/;

/** A function or class that an import names. */
export function libraryCall(name: string, made: Call, evaluator: Evaluator): Value {
  const { node, args, keywords } = made;
  const [first] = args;
  const text = node.childForFieldName('arguments')?.text ?? '';
  if (name.startsWith('torch.nn.') || names.wrapperClass.test(name)) {
    const layer = layerCall(name, made, text);
    if (layer !== null) return layer;
  }
  if (names.optimizerClass.test(name))
    return { kind: 'holder', role: 'optimizer', made: node, host: false, holds: made.holds };
  if (names.schedulerClass.test(name))
    return { kind: 'holder', role: 'scheduler', made: node, host: false, holds: made.holds };
  if (names.modelMaker.test(name) && !names.notModels.test(name)) return module(site(node, 'model'));
  if (name === 'copy.deepcopy' || name === 'copy.copy') return copied(name, first, node);
  if (names.loads.test(name)) return loaded(node, text);
  if (name === 'sys.exc_info') return { kind: 'holder', role: 'exception', made: node, host: false, holds: noSites };
  if (name === 'torch.utils.data.DataLoader') return container(node, tensor(site(node, 'tensor'), { full: true }));
  if (name.startsWith('collections.')) return collection(name, made, text, evaluator);
  if (name === 'itertools.chain') return container(node, args.map(element).reduce(join, plain));
  if (passing.test(name)) return first === undefined ? container(node, plain) : container(node, element(first));
  if (isQueue(name)) return queue(node);
  if (startsFunctions.test(name)) return started(name, made, evaluator);
  if (name === 'torch.autograd.grad') {
    const grad = /create_graph\s*=\s*True/.test(text) ? 'yes' : 'no';
    return container(node, tensor(site(node, 'tensor'), { graph: grad, from: node, full: true }));
  }
  if (plainLibraries.test(name) || plainTorch.test(name)) return plain;
  if (!name.startsWith('torch.')) return unknownHolding(made.holds);
  return torchCall(name, [...args, ...keywords.values()], made, text, evaluator);
}

/** Without a device, and without a default that the file sets, a new tensor is in host memory. */
function isOnHost(name: string, text: string, evaluator: Evaluator): boolean {
  if (/device|\*\*/.test(text) || /_like$|as_tensor$|^torch\.tensor$/.test(name)) return false;
  const { calls } = evaluator.knowledge.module;
  return !calls.has('.set_default_device') && !calls.has('.set_default_tensor_type');
}

/** Classes of torch.nn, and what wraps a module. */
function layerCall(name: string, made: Call, text: string): Value | null {
  const { node, args } = made;
  const [first] = args;
  if (names.wrapperClass.test(name)) return first ?? unknown;
  if (name === 'torch.nn.Parameter') return tensor(site(node, 'model'), { graph: 'yes', from: node, full: true });
  if (name === 'torch.nn.ModuleList' || name === 'torch.nn.ParameterList' || name === 'torch.nn.ModuleDict')
    return first?.kind === 'container' ? first : container(node, unknown);
  if (names.notModules.test(name)) return unknown;
  const here = site(node, 'model');
  if (names.lossClass.test(name)) return /reduction\s*=\s*["']none/.test(text) ? unknown : module(here, { loss: true });
  if (!names.moduleClass.test(name)) return null;
  if (name !== 'torch.nn.Sequential') {
    const texts = children(node.childForFieldName('arguments') ?? node).map((one) => one.text);
    return module(here, { bare: names.isBare(name), answers: names.answersOf(name, texts) });
  }
  const parts = args.map((arg) => (arg.kind === 'container' ? element(arg) : arg));
  const sizes = parts.map((part) => (part.kind === 'module' ? part.answers : 'unknown'));
  // The last layer that changes the size says what comes out.
  const answers = sizes.findLast((size) => size !== 'same') ?? 'same';
  return module(here, { answers, holds: models(made.holds) });
}

function copied(name: string, value: Value | undefined, node: Node): Value {
  if (value === undefined) return unknown;
  switch (value.kind) {
    case 'module':
    case 'instance':
      return { ...value, holds: [site(node, 'model')] };
    case 'holder':
      return name === 'copy.deepcopy' && value.role === 'weights'
        ? { ...value, made: node, holds: [site(node, 'weights')] }
        : value;
    case 'tensor': {
      const own = site(node, 'tensor');
      return { ...value, own, holds: union([own], value.graph === 'no' ? noSites : value.holds) };
    }
    default:
      return value;
  }
}

function loaded(node: Node, text: string): Value {
  const host = /map_location\s*=\s*(torch\.device\()?["']cpu|map_location\s*=\s*lambda|device\s*=\s*["']cpu/.test(text);
  return { kind: 'holder', role: 'checkpoint', made: node, host, holds: [site(node, 'checkpoint')] };
}

const longDeque = 1000;

function collection(name: string, made: Call, text: string, evaluator: Evaluator): Value {
  const [first] = made.args;
  if (name === 'collections.deque') {
    const length = /maxlen\s*=\s*([\p{L}\p{N}_]+)/u.exec(text)?.[1] ?? (made.args.length > 1 ? 'given' : 'None');
    // A replay memory of thousands of entries is as good as a list.
    const bounded = length !== 'None' && !(Number(length.replaceAll('_', '')) > longDeque);
    return container(made.node, first === undefined ? plain : element(first), bounded);
  }
  if (name === 'collections.defaultdict') {
    const makes = made.node.childForFieldName('arguments')?.text;
    const of = evaluator.knowledge.module.classes.get(makes?.slice(1, -1) ?? '');
    if (of !== undefined) return container(made.node, { kind: 'instance', of, frozen: false, holds: noSites });
    return container(made.node, makes === '(list)' || makes === '(dict)' ? container(made.node, plain) : plain);
  }
  if (name === 'collections.OrderedDict' || name === 'collections.Counter') {
    return container(made.node, first === undefined ? plain : element(first));
  }
  return unknownHolding(made.holds);
}

function torchCall(name: string, given: readonly Value[], made: Call, text: string, evaluator: Evaluator): Value {
  const { node } = made;
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (names.creators.test(name)) {
    const graph = /requires_grad\s*=\s*True/.test(text) ? 'yes' : 'no';
    const small = /^(tensor|as_tensor|arange|linspace|randint|randperm|multinomial)$/.test(last);
    const host = isOnHost(name, text, evaluator);
    return tensor(site(node, 'tensor'), { graph, from: graph === 'yes' ? node : null, full: !small, host });
  }
  if (names.discrete.has(last)) return tensor(site(node, 'tensor'));
  if (names.functionalLoss.test(name)) {
    const loss = evaluator.result(node, given);
    if (loss.kind !== 'tensor') return loss;
    return { ...loss, scalar: !/reduction\s*=\s*["']none/.test(text), full: false, output: null };
  }
  // Of a tuple each item counts by itself: one with a graph gives it to the result.
  const inner = given.flatMap((arg) =>
    arg.kind === 'tuple' ? arg.items : arg.kind === 'container' ? element(arg) : arg,
  );
  if (!inner.some((arg) => arg.kind === 'tensor')) return unknownHolding(made.holds);
  const result = evaluator.result(node, inner);
  if (result.kind !== 'tensor') return result;
  const dimension = given.length > 1;
  if (names.reductions.has(last)) {
    const value = { ...result, full: false, scalar: !dimension, output: dimension ? result.output : null };
    const both = /^(max|min|topk|mode|median)$/.test(last) && dimension && given[1]?.kind !== 'tensor';
    return both ? tuple([value, tensor(site(node, 'tensor'))]) : value;
  }
  if (/^(split|chunk|unbind|tensor_split)$/.test(last)) {
    const base = inner[0];
    return container(node, base?.kind === 'tensor' ? { ...base, full: false, partOf: node } : result);
  }
  if (/^(cat|concat|stack|hstack|vstack)$/.test(last)) return { ...result, scalar: false, partOf: null };
  return result;
}
