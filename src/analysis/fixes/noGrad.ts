import { resultMayBeBackPropagated } from '../flow/backward';
import { text, type Fix } from '../finding';
import type { FunctionScope, ModuleScope } from '../scopes/module';
import { backwardIn } from '../flow/training';

/**
 * `@torch.no_grad()` on a function that nothing back-propagates through: its forward passes then keep no activations.
 * Null where the function trains, yields (the caller would run with it while it is suspended), or torch has no name here.
 */
export function noGradFix(scope: FunctionScope, safe: boolean, module: ModuleScope): Fix | null {
  const definition = scope.node;
  if (definition.type !== 'function_definition' || scope.isGenerator || backwardIn(scope, module)) return null;
  if (resultMayBeBackPropagated(scope, module)) return null;
  const torch = [...module.imports].find(([, meaning]) => meaning === 'torch')?.[0];
  if (torch === undefined) return null;
  const outer = definition.parent?.type === 'decorated_definition' ? definition.parent : definition;
  const indent = indentAt(outer.startIndex, module.root.text);
  return {
    ...{ title: text('Record no graph in {0}: @torch.no_grad()', scope.name), safe },
    edits: [{ start: outer.startIndex, end: outer.startIndex, newText: `@${torch}.no_grad()\n${indent}` }],
  };
}

/** The white space before a place on its line. */
function indentAt(offset: number, source: string): string {
  const line = source.lastIndexOf('\n', offset - 1) + 1;
  return /^\s*/.exec(source.slice(line, offset))?.[0] ?? '';
}
