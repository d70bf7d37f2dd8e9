import { text, type Finding, type Fix } from '../finding';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Rule } from './rule';
import { storesOf, type Store } from './stores';
import { copyOf, isStateDict, type Copy } from './weightCopies';

/**
 * P16 `weights-copied-on-device`: copies of a model or of its weights are collected, and every one of them lies on the
 * device of the model. One slot that is overwritten is bounded and left alone.
 */
export const weightsCopiedOnDevice: Rule = {
  slugs: ['weights-copied-on-device'],
  mentions: /state_dict|deepcopy|parameters/,
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'append' && store.how !== 'item') continue;
      if (one.scope.class?.isModule === true && one.scope.name === '__init__') continue;
      for (const copy of copiesIn(store.expression, store.environment, one)) {
        if (copy.of.kind === 'model' && !changesMeanwhile(copy.node, store)) continue;
        yield finding(store, copy);
        break;
      }
    }
  },
};

/** Copies of weights in what is kept: written there, or made before and kept by name. */
function* copiesIn(expression: Node, environment: Environment, one: Interpreted): Iterable<Copy> {
  switch (expression.type) {
    case 'tuple':
    case 'list':
    case 'parenthesized_expression':
    case 'expression_list':
    case 'dictionary':
    case 'argument_list':
      for (const item of children(expression)) yield* copiesIn(item, environment, one);
      return;
    case 'pair':
    case 'keyword_argument': {
      const value = expression.childForFieldName('value');
      if (value !== null) yield* copiesIn(value, environment, one);
      return;
    }
  }
  const value = one.evaluator.evaluate(expression, environment);
  const copy = copyOf(value, expression, environment, one);
  if (copy !== null) yield copy;
  const isRecord = /^([A-Z]\w*|dict)$/.test(expression.childForFieldName('function')?.text ?? '');
  const list = expression.type === 'call' && isRecord ? expression.childForFieldName('arguments') : null;
  if (list !== null) yield* copiesIn(list, environment, one);
}

/** The model goes on being trained where its copies are collected: they are snapshots, no layers of a new model. */
function changesMeanwhile(made: Node, { loop }: Store): boolean {
  if (loop === null) return true;
  const [original] = children(made.childForFieldName('arguments') ?? made);
  if (original === undefined || (original.type !== 'identifier' && original.type !== 'attribute')) return false;
  for (const node of descend(loop)) {
    if (node.text === original.text && node.startIndex !== original.startIndex) return true;
  }
  return false;
}

function finding(store: Store, copy: Copy): Finding {
  const { statement, keeper } = store;
  const chain = [
    reason(copy.node, text('The copy is made here, on the device of the model.')),
    reason(statement, text('{0} keeps every copy, and none is dropped.', keeper)),
  ];
  if (store.loop !== null) chain.push(reason(store.loop, text('Every round of this loop adds one.')));
  return {
    ...{ rule: 'weights-copied-on-device', severity: 'error', start: statement.startIndex, end: statement.endIndex },
    message: text(
      '{0} collects whole copies of the weights on the device: GPU memory grows by the size of the model each time. In host memory (or on disk) they cost the GPU nothing.',
      keeper,
    ),
    chain,
    fixes: toHost(copy),
  };
}

function toHost({ node, of }: Copy): Fix[] {
  const title = text('Keep the copy in host memory');
  const copied = (name: string): string => `${name}.detach().to("cpu", copy=True)`;
  if (of.kind === 'model') {
    return [{ title, safe: false, edits: [{ start: node.endIndex, end: node.endIndex, newText: '.cpu()' }] }];
  }
  if (of.kind === 'values') {
    const name = /\w+/.exec(of.value.text.replace(/^(copy\.)?deepcopy\(/, ''))?.[0];
    if (name === undefined) return [];
    return [
      { title, safe: false, edits: [{ start: of.value.startIndex, end: of.value.endIndex, newText: copied(name) }] },
    ];
  }
  const [argument] = children(node.childForFieldName('arguments') ?? node);
  if (!isStateDict(argument ?? null)) return [];
  const taken = /\b[kv]\b/.test(argument?.text ?? '');
  const [key, value] = taken ? ['name', 'weight'] : ['k', 'v'];
  const newText = `{${key}: ${copied(value as string)} for ${key}, ${value} in ${argument?.text}.items()}`;
  return [{ title, safe: false, edits: [{ start: node.startIndex, end: node.endIndex, newText }] }];
}
