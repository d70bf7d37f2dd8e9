import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';

export interface FunctionScope {
  /** The `function_definition`, or the whole `module`. */
  node: Node;
  name: string;
  body: Node;
  parameters: string[];
  /** Default values of parameters that have one. */
  defaults: ReadonlyMap<string, Node>;
  class: ClassScope | null;
  /** A method that is not given the object it is called on. */
  isStatic: boolean;
  isProperty: boolean;
  /** It yields: calling it runs nothing of it. */
  isGenerator: boolean;
  /** The function it stands in; null for functions of the top level and methods of classes there. */
  around: FunctionScope | null;
}

export interface ClassScope {
  node: Node;
  name: string;
  /** Whether it derives from torch.nn.Module, directly or through classes of this file. */
  isModule: boolean;
  /** Dotted names of its bases as the imports mean them, those of bases of this file included. */
  bases: ReadonlySet<string>;
  methods: Map<string, FunctionScope>;
}

/** Names of one file: what imports mean, which classes and functions there are. */
export interface ModuleScope {
  root: Node;
  imports: Map<string, string>;
  /** Classes and functions of imported files by their dotted names, as `imports` has them. */
  linked: Linked;
  classes: Map<string, ClassScope>;
  /** Functions of the top level by name. */
  functions: Map<string, FunctionScope>;
  /** Functions inside functions by their name, by the id of the function around. */
  innerFunctions: Map<number, Map<string, FunctionScope>>;
  /** Every function, method and lambda, nested ones included, and the top level itself (first). */
  scopes: FunctionScope[];
  /** Scopes by the id of their node. */
  scopeOf: Map<number, FunctionScope>;
  /** Calls by the name that is called: `f(…)` under `f`, `x.f(…)` under `.f`. */
  calls: Map<string, Node[]>;
  /** Names of the classes whose methods set an attribute of `self`, by the attribute's name. */
  attributeOwners: Map<string, Set<string>>;
  /** How often an attribute of some name is read. */
  attributeReads: Map<string, number>;
  /** Functions that are no methods, and methods, by their names. */
  named: Map<string, FunctionScope[]>;
  methods: Map<string, FunctionScope[]>;
  /** Names that some function declares `global`: they may change at any call. */
  changedGlobals: Set<string>;
}

export type Linked = ReadonlyMap<string, ClassScope | FunctionScope>;

/**
 * Reads one file; `linked` is what it may use of the files it imports. Of the last reading of the same tree functions with
 * the same body, and classes, stay the objects they were.
 */
export function readModule(root: Node, linked: Linked = new Map(), last: ModuleScope | null = null): ModuleScope {
  const top: FunctionScope = last?.scopes[0] ?? {
    ...{ node: root, name: '<module>', body: root, parameters: [], defaults: new Map(), class: null },
    ...{ isStatic: false, isProperty: false, isGenerator: false, around: null },
  };
  const module: ModuleScope = {
    ...{ root, linked, imports: new Map(), classes: new Map(), functions: new Map(), innerFunctions: new Map() },
    ...{ scopes: [top], scopeOf: new Map(), calls: new Map() },
    ...{ attributeReads: new Map(), attributeOwners: new Map(), named: new Map(), methods: new Map() },
    changedGlobals: new Set(),
  };
  const classes: Node[] = [];
  const functions: Node[] = [];
  for (const node of descend(root)) {
    switch (node.type) {
      case 'import_statement':
      case 'import_from_statement':
        readImport(node, module.imports);
        break;
      case 'call':
        readCall(node, module.calls);
        break;
      case 'attribute':
        readAttribute(node, module);
        break;
      case 'global_statement':
        for (const name of children(node)) module.changedGlobals.add(name.text);
        break;
      case 'class_definition':
        classes.push(node);
        break;
      case 'lambda':
        // One inside another is left to the outer one.
        if (!isInLambda(node)) functions.push(node);
        break;
      case 'function_definition':
        functions.push(node);
    }
  }
  for (const node of classes) readClass(node, module, last);
  for (const node of functions) readScope(node, module, last);
  module.scopeOf.set(root.id, top);
  return module;
}

function isInLambda(node: Node): boolean {
  for (let at = node.parent; at !== null && at.type !== 'block'; at = at.parent) if (at.type === 'lambda') return true;
  return false;
}

function readScope(node: Node, module: ModuleScope, last: ModuleScope | null): void {
  const owner = ownerClass(node, module);
  const known = last?.scopeOf.get(node.id);
  const isSame = known !== undefined && known.body === node.childForFieldName('body');
  const scope = isSame ? known : readFunction(node, owner);
  if (scope === null) return;
  module.scopes.push(scope);
  module.scopeOf.set(node.id, scope);
  const around = scopeAround(node, module);
  scope.around = around;
  if (node.type === 'lambda') return;
  const byName = owner === null ? module.named : module.methods;
  byName.set(scope.name, [...(byName.get(scope.name) ?? []), scope]);
  if (owner !== null) owner.methods.set(scope.name, scope);
  else if (around === null) module.functions.set(scope.name, scope);
  else {
    const inner = module.innerFunctions.get(around.node.id);
    if (inner === undefined) module.innerFunctions.set(around.node.id, new Map([[scope.name, scope]]));
    else inner.set(scope.name, scope);
  }
}

/** The function around a node, read before it; null at the top level. */
export function scopeAround(node: Node, module: ModuleScope): FunctionScope | null {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (at.type !== 'function_definition' && at.type !== 'lambda') continue;
    return module.scopeOf.get(at.id) ?? null;
  }
  return null;
}

function readAttribute(node: Node, { attributeReads, attributeOwners }: ModuleScope): void {
  const name = node.childForFieldName('attribute')?.text ?? '';
  const parent = node.parent;
  const isInPattern = parent?.type === 'pattern_list' || parent?.type === 'tuple_pattern';
  const isTarget = parent?.type === 'assignment' && parent.childForFieldName('left') === node;
  if (!isTarget && !isInPattern) {
    attributeReads.set(name, (attributeReads.get(name) ?? 0) + 1);
    return;
  }
  if (node.childForFieldName('object')?.text !== 'self') return;
  let owner: Node | null = node.parent;
  while (owner !== null && owner.type !== 'class_definition') owner = owner.parent;
  const owners = attributeOwners.get(name) ?? new Set();
  attributeOwners.set(name, owners.add(owner?.childForFieldName('name')?.text ?? ''));
}

function readCall(node: Node, calls: Map<string, Node[]>): void {
  const target = node.childForFieldName('function');
  const attribute = target?.childForFieldName('attribute');
  const name = attribute ? `.${attribute.text}` : target?.type === 'identifier' ? target.text : null;
  if (name === null) return;
  const list = calls.get(name);
  if (list === undefined) calls.set(name, [node]);
  else list.push(node);
}

/** Dotted name that `node` (an identifier or attributes of one) means through the imports; null for anything else. */
export function dottedName(node: Node, imports: ReadonlyMap<string, string>): string | null {
  if (node.type === 'identifier') return imports.get(node.text) ?? null;
  if (node.type !== 'attribute') return null;
  const object = node.childForFieldName('object');
  const attribute = node.childForFieldName('attribute');
  if (object === null || attribute === null) return null;
  const before = dottedName(object, imports);
  return before === null ? null : `${before}.${attribute.text}`;
}

function readImport(node: Node, imports: Map<string, string>): void {
  const from = node.childForFieldName('module_name');
  for (const item of children(node)) {
    if (from !== null && item.id === from.id) continue;
    const name = item.type === 'aliased_import' ? item.childForFieldName('name') : item;
    const alias = item.type === 'aliased_import' ? item.childForFieldName('alias') : null;
    if (name === null || name.type !== 'dotted_name') continue;
    if (from !== null) imports.set((alias ?? name).text, `${from.text}.${name.text}`);
    else if (alias !== null) imports.set(alias.text, name.text);
    // `import torch.nn` binds `torch`.
    else imports.set(name.text.split('.')[0] ?? name.text, name.text.split('.')[0] ?? name.text);
  }
}

function readClass(node: Node, module: ModuleScope, last: ModuleScope | null): void {
  const name = node.childForFieldName('name')?.text;
  if (name === undefined) return;
  const known = last?.classes.get(name);
  if (known?.node === node) {
    known.methods.clear();
    module.imports.delete(name);
    module.classes.set(name, known);
    return;
  }
  const list = node.childForFieldName('superclasses');
  const bases = new Set<string>();
  let isModule = false;
  for (const base of list === null ? [] : children(list)) {
    if (base.type === 'keyword_argument') continue;
    const here = classOf(base, module);
    const dotted = here === undefined ? (dottedName(base, module.imports) ?? base.text) : base.text;
    bases.add(dotted);
    for (const further of here?.bases ?? []) bases.add(further);
    // `Base = pl.LightningModule`, `class Net(models.BaseModel)`: what the name stands for is looked up.
    const meant = here === undefined ? aliasOf(base, module) : dotted;
    isModule ||= here?.isModule === true || moduleBase.test(dotted) || moduleBase.test(meant);
  }
  module.classes.set(name, { node, name, isModule, bases, methods: new Map() });
  // What stands in for an import that fails is taken to be what the import means.
  module.imports.delete(name);
}

/** A class that a name means: of this file, or of one it imports. */
export function classOf(name: Node, module: ModuleScope): ClassScope | undefined {
  const own = module.classes.get(name.text);
  if (own !== undefined) return own;
  const linked = linkedTo(name, module);
  return linked !== undefined && isClass(linked) ? linked : undefined;
}

/** What a name means in an imported file. */
export function linkedTo(name: Node, module: ModuleScope): ClassScope | FunctionScope | undefined {
  if (module.linked.size === 0) return undefined;
  const dotted = dottedName(name, module.imports);
  return dotted === null ? undefined : module.linked.get(dotted);
}

export function isClass(scope: ClassScope | FunctionScope): scope is ClassScope {
  return 'methods' in scope;
}

/** A method of a class, its own or that of the nearest base that the file knows. */
export function methodOf(owner: ClassScope, name: string, module: ModuleScope): FunctionScope | undefined {
  const own = owner.methods.get(name);
  if (own !== undefined) return own;
  for (const dotted of owner.bases) {
    const base = module.classes.get(dotted) ?? module.linked.get(dotted);
    const inherited = base !== undefined && isClass(base) ? base.methods.get(name) : undefined;
    if (inherited !== undefined) return inherited;
  }
  return undefined;
}

/** Classes that derive from torch.nn.Module. */
const moduleBase =
  /^torch\.nn\.(Module|Sequential|ModuleList|\w*Loss|Linear|Conv\w+)$|(^|\.)(LightningModule|PreTrainedModel|ModelMixin|MessagePassing|pl_LightningModule)$/;

/** A function with a backward of its own. */
export function isAutogradFunction({ bases }: ClassScope): boolean {
  return [...bases].some((base) => /(^|\.)autograd\.(function\.)?Function$|^Function$/.test(base));
}

/** What a name of the top level was assigned from, as the imports mean it. */
function aliasOf(name: Node, module: ModuleScope): string {
  for (const statement of descend(module.root, (node) => !/^(function|class)_definition$/.test(node.type))) {
    if (statement.type !== 'assignment' || statement.childForFieldName('left')?.text !== name.text) continue;
    const right = statement.childForFieldName('right');
    return right === null ? '' : (dottedName(right, module.imports) ?? '');
  }
  return '';
}

/** The node a definition stands in, decorators left aside. */
function definitionParent(node: Node): Node | null {
  const parent = node.parent;
  return parent?.type === 'decorated_definition' ? parent.parent : parent;
}

function ownerClass(node: Node, module: ModuleScope): ClassScope | null {
  const block = definitionParent(node);
  const owner = block?.parent;
  if (block?.type !== 'block' || owner?.type !== 'class_definition') return null;
  return module.classes.get(owner.childForFieldName('name')?.text ?? '') ?? null;
}

function readFunction(node: Node, owner: ClassScope | null): FunctionScope | null {
  const name = node.type === 'lambda' ? '<lambda>' : node.childForFieldName('name')?.text;
  const body = node.childForFieldName('body');
  if (name === undefined || body === null) return null;
  const list = node.childForFieldName('parameters');
  const parameters = (list === null ? [] : children(list)).map((parameter) => {
    if (parameter.type === 'identifier') return parameter.text;
    return (parameter.childForFieldName('name') ?? children(parameter)[0])?.text ?? '';
  });
  const defaults = new Map<string, Node>();
  for (const parameter of list === null ? [] : children(list)) {
    const value = parameter.childForFieldName('value');
    if (value !== null) defaults.set(parameter.childForFieldName('name')?.text ?? '', value);
  }
  const decorators = decoratorsOf(node).map((decorator) => decorator.text);
  return {
    ...{ node, name, body, parameters, defaults, class: owner, around: null },
    isStatic: decorators.includes('staticmethod'),
    isProperty: decorators.some((text) => /(^|[._])(cached_)?property$/.test(text)),
    isGenerator: yields(body),
  };
}

/** Expressions of a definition's decorators, without their `@`. */
export function decoratorsOf(definition: Node): Node[] {
  const outer = definition.parent;
  if (outer?.type !== 'decorated_definition') return [];
  return children(outer).flatMap((child) => (child.type === 'decorator' ? children(child).slice(0, 1) : []));
}

function yields(body: Node): boolean {
  const isInner = (node: Node): boolean => /^(function_definition|lambda|class_definition)$/.test(node.type);
  for (const node of descend(body, (inner) => !isInner(inner))) if (node.type === 'yield') return true;
  return false;
}
