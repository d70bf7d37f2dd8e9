import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { FunctionScope, ModuleScope } from './module';

/** Whether `name`, read in a function, can only be the top level's: no function around binds it and none changes it. */
export function seesTopLevel(name: string, scope: FunctionScope, module: ModuleScope): boolean {
  if (scope.body.type === 'module' || module.changedGlobals.has(name)) return false;
  for (let at: Node | null = scope.node; at !== null; at = at.parent) {
    const around = at.type === 'function_definition' || at.type === 'lambda' ? module.scopeOf.get(at.id) : undefined;
    if (around !== undefined && boundNames(around).has(name)) return false;
  }
  return true;
}

const known = new WeakMap<FunctionScope, ReadonlySet<string>>();

function boundNames(scope: FunctionScope): ReadonlySet<string> {
  let names = known.get(scope);
  if (names === undefined) known.set(scope, (names = readBound(scope)));
  return names;
}

/** Parameters, and whatever a statement or expression of the body binds; targets of comprehensions are among them. */
function readBound(scope: FunctionScope): Set<string> {
  const names = new Set(scope.parameters);
  const add = (target: Node | null): void => {
    if (target === null) return;
    // `a.b = …` and `a[i] = …` bind no name.
    const isPlace = (node: Node): boolean => node.type === 'attribute' || node.type === 'subscript';
    for (const node of descend(target, (inner) => !isPlace(inner)))
      if (node.type === 'identifier') names.add(node.text);
  };
  for (const node of descend(scope.body)) {
    switch (node.type) {
      case 'assignment':
      case 'augmented_assignment':
      case 'for_statement':
      case 'for_in_clause':
        add(node.childForFieldName('left'));
        break;
      case 'named_expression':
      case 'function_definition':
      case 'class_definition':
        add(node.childForFieldName('name'));
        break;
      case 'lambda':
        add(node.childForFieldName('parameters'));
        break;
      case 'as_pattern_target':
      case 'delete_statement':
      case 'case_pattern':
      case 'import_statement':
      case 'import_from_statement':
        children(node).forEach(add);
    }
  }
  return names;
}
