import type { Node } from '../syntax/node';
import { callsOf } from '../scopes/gradMode';
import type { FunctionScope, ModuleScope } from '../scopes/module';
import { returns } from '../flow/backward';
import { text, type Fix } from '../finding';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';

/** Expressions that `.item()` can be put behind as they are. */
const primary = ['identifier', 'attribute', 'call', 'subscript', 'parenthesized_expression'];

/**
 * The ways to keep `kept`'s number without its graph, the better one first. `.item()` needs a value without dimensions
 * whose keeper is used as a number; it is a Python number then, so anything that asks it for tensor methods would break.
 */
export function detachFixes(
  kept: Node,
  keeper: string,
  scalar: boolean,
  scope: FunctionScope,
  module: ModuleScope,
): Fix[] {
  const asTensor = isUsedAsTensor(keeper, scope, module);
  const safe = isReadAsNumberOnly(keeper, scope);
  const detach = fix(kept, '.detach()', safe);
  if (!scalar || asTensor) return [detach];
  return [fix(kept, '.item()', safe), detach];
}

function fix(kept: Node, method: string, safe: boolean): Fix {
  const oneLine = kept.text.replace(/\s+/g, ' ');
  const short = oneLine.length > 40 ? `${oneLine.slice(0, 39)}…` : oneLine;
  const shown = primary.includes(kept.type) ? short : `(${short})`;
  const edits = primary.includes(kept.type)
    ? [{ start: kept.endIndex, end: kept.endIndex, newText: method }]
    : [
        { start: kept.startIndex, end: kept.startIndex, newText: '(' },
        { start: kept.endIndex, end: kept.endIndex, newText: `)${method}` },
      ];
  const title =
    method === '.item()'
      ? text('Keep the number: {0}', `${shown}.item()`)
      : text('Keep the value without its graph: {0}', `${shown}.detach()`);
  return { title, safe, edits };
}

/** Whether tensor methods or torch functions are used on it, here or on the result where it is returned. */
function isUsedAsTensor(keeper: string, scope: FunctionScope, module: ModuleScope): boolean {
  const attribute = /\.([^.]+)$/.exec(keeper)?.[1];
  if (attribute !== undefined && takesMethods(attribute, module.root)) return true;
  if (takesMethods(keeper, scope.body)) return true;
  if (keeper.includes('.') || !returns(keeper, scope.body)) return false;
  return callsOf(scope, module).some((call) => {
    if (call.parent?.type === 'attribute') return true;
    const holder = module.scopes.findLast(
      (one) => one.body.startIndex <= call.startIndex && call.endIndex <= one.body.endIndex,
    );
    for (let at: Node | null = call; at !== null; at = at.parent) {
      const left = assignmentOf(at)?.childForFieldName('left');
      if (!left) continue;
      const names = left.type === 'identifier' ? [left] : children(left);
      return names.some((name) => holder !== undefined && takesMethods(name.text, holder.body));
    }
    return false;
  });
}

/** `x.mean()`, `torch.stack(x)`, also of an attribute `x`; a list's own `append` and the like are no such use. */
function takesMethods(name: string, body: Node): boolean {
  const ofList = ['append', 'extend', 'clear', 'pop', 'insert', 'items', 'keys', 'values', 'get', 'setdefault'];
  for (const node of descend(body)) {
    if (node.type === 'attribute' && isNamed(node.childForFieldName('object'), name)) {
      if (!ofList.includes(node.childForFieldName('attribute')?.text ?? '')) return true;
    }
    if (node.type !== 'call' || !/^torch\.|^F\./.test(node.childForFieldName('function')?.text ?? '')) continue;
    const args = node.childForFieldName('arguments');
    if (args !== null && children(args).some((arg) => isNamed(arg, name))) return true;
  }
  return false;
}

function isNamed(node: Node | null, name: string): boolean {
  const of = stem(node);
  return of === name || of.endsWith(`.${name}`);
}

/** `history` of `history["train"][-1]`. */
function stem(node: Node | null): string {
  let at = node;
  while (at?.type === 'subscript') at = at.childForFieldName('value');
  return at?.text ?? '';
}

/** Every read of it is `float(x)`, `len(x)` or `sum(float(v) for v in x)`: what the program prints stays the same. */
function isReadAsNumberOnly(keeper: string, scope: FunctionScope): boolean {
  if (keeper.includes('.') || returns(keeper, scope.body)) return false;
  for (const node of descend(scope.body)) {
    if (node.type !== 'identifier' || node.text !== keeper) continue;
    const parent = node.parent;
    const assignment = parent === null ? null : assignmentOf(parent);
    if (assignment !== null || parent?.type.includes('pattern')) continue;
    if (parent?.type === 'attribute' && parent.childForFieldName('attribute')?.text === 'append') continue;
    const call = parent?.type === 'argument_list' ? parent.parent : null;
    if (!['float', 'len'].includes(call?.childForFieldName('function')?.text ?? '')) return false;
  }
  return true;
}
