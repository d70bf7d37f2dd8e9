import type { Node } from './node';
import { children } from './parser';

/** The assignment (plain or augmented) that a statement is. */
export function assignmentOf(statement: Node): Node | null {
  const inner = statement.type === 'expression_statement' ? children(statement)[0] : statement;
  return inner?.type === 'assignment' || inner?.type === 'augmented_assignment' ? inner : null;
}

/** Names in a call of `backward`: of its receiver (`(a + b).backward()`) and of its arguments (`fabric.backward(a)`). */
export function backPropagated(call: Node): string[] {
  const target = call.childForFieldName('function');
  const name = target?.childForFieldName('attribute')?.text ?? target?.text;
  if (name !== 'backward' && name !== 'manual_backward' && name !== 'grad') return [];
  return namesIn(call);
}

/** Names and dotted names in an expression, stems of dotted ones among them, each as often as it occurs. */
export function namesIn(node: Node): string[] {
  const names: string[] = [];
  const left = [node];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    switch (at.type) {
      case 'identifier':
        names.push(at.text);
        break;
      case 'attribute': {
        names.push(at.text);
        const object = at.childForFieldName('object');
        if (object !== null) left.push(object);
        break;
      }
      case 'keyword_argument': {
        const value = at.childForFieldName('value');
        if (value !== null) left.push(value);
        break;
      }
      default:
        left.push(...at.children);
    }
  }
  return names;
}

const leavesGraph = /^(item|detach|detach_|tolist|numpy|argmax|argmin|argsort|size|dim|numel|long|int|bool|data_ptr)$/;
const toNumber =
  /^((torch|np|numpy)\.(tensor|as_tensor|from_numpy|\w+_like|zeros|ones|arange|array|asarray|[A-Z]\w+Tensor)|float|int|len|str|bool|repr|range|isinstance|print|type|id|format)$/;

/** The names of an expression through which a graph may come: not those of `x.item()`, `float(x)`, `x.detach()`. */
export function graphNamesIn(node: Node): string[] {
  const names: string[] = [];
  const left = [node];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    switch (at.type) {
      case 'identifier':
        names.push(at.text);
        break;
      case 'attribute': {
        const attribute = at.childForFieldName('attribute')?.text;
        if (attribute === 'data' || attribute === 'shape' || attribute === 'device' || attribute === 'dtype') break;
        names.push(at.text);
        const object = at.childForFieldName('object');
        if (object !== null) left.push(object);
        break;
      }
      case 'keyword_argument': {
        const value = at.childForFieldName('value');
        if (value !== null) left.push(value);
        break;
      }
      case 'comparison_operator':
      case 'string':
        break;
      case 'call': {
        const target = at.childForFieldName('function');
        const method = target?.childForFieldName('attribute')?.text;
        if ((method !== undefined && leavesGraph.test(method)) || toNumber.test(target?.text ?? '')) break;
        left.push(...at.children);
        break;
      }
      default:
        left.push(...at.children);
    }
  }
  return names;
}

/** The statement that an expression stands in. */
export function statementAround(node: Node): Node {
  let at = node;
  while (at.parent !== null && !at.type.endsWith('_statement')) at = at.parent;
  return at;
}
