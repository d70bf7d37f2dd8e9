import { children } from '../syntax/parser';
import type { Node } from '../syntax/node';
import { functionAround } from './gradMode';
import type { ModuleScope } from './module';

/** Methods that nothing but a torch.nn.Module has, by what they are called with. */
const moduleMethods = ['.parameters', '.named_parameters', '.named_modules', '.register_forward_hook', '.eval'];

/**
 * Names that are used as modules: `x.parameters()`, `x.eval()`. A plain name counts inside its own function, an attribute
 * anywhere in its class. Keys: `<function's node id> name`, `<class's node id> self.name`.
 */
function usedAsModules(module: ModuleScope): ReadonlySet<string> {
  const used = new Set<string>();
  for (const method of moduleMethods) {
    for (const call of module.calls.get(method) ?? []) {
      if (method === '.eval' && children(call.childForFieldName('arguments') ?? call).length > 0) continue;
      const object = call.childForFieldName('function')?.childForFieldName('object');
      if (object) used.add(`${place(object, object.text)} ${object.text}`);
    }
  }
  return used;
}

const known = new WeakMap<ModuleScope, ReadonlySet<string>>();

export function isUsedAsModule(node: Node, module: ModuleScope): boolean {
  let used = known.get(module);
  if (used === undefined) known.set(module, (used = usedAsModules(module)));
  return used.size > 0 && used.has(`${place(node, node.text)} ${node.text}`);
}

function place(node: Node, name: string): number {
  let around = functionAround(node);
  if (!name.startsWith('self.')) return around?.id ?? -1;
  while (around !== null && around.type !== 'class_definition') around = around.parent;
  return around?.id ?? -1;
}
