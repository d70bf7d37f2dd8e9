import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';

export interface FunctionScope {
  /** The `function_definition`, or the whole `module`. */
  node: Node;
  name: string;
  body: Node;
  parameters: string[];
  class: ClassScope | null;
}

export interface ClassScope {
  node: Node;
  name: string;
  /** Whether it derives from torch.nn.Module, directly or through classes of this file. */
  isModule: boolean;
  methods: Map<string, FunctionScope>;
}

/** Names of one file: what imports mean, which classes and functions there are. */
export interface ModuleScope {
  root: Node;
  imports: Map<string, string>;
  classes: Map<string, ClassScope>;
  /** Functions of the top level by name. */
  functions: Map<string, FunctionScope>;
  /** Every function and method, nested ones included, and the top level itself (first). */
  scopes: FunctionScope[];
  /** Scopes by the id of their node. */
  scopeOf: Map<number, FunctionScope>;
  /** Calls by the name that is called: `f(…)` under `f`, `x.f(…)` under `.f`. */
  calls: Map<string, Node[]>;
  /** Answers of `gradIsOff` by the id of the function around. */
  gradOff: Map<number, boolean>;
  /** Names that a function binds itself, by the id of its node; filled by `seesTopLevel`. */
  bound: Map<number, ReadonlySet<string>>;
  /** Answers of `reachingBackward` by the id of the body. */
  reaching: Map<number, Set<string>>;
  /** Names that some function declares `global`: they may change at any call. */
  changedGlobals: ReadonlySet<string>;
}

export function readModule(root: Node): ModuleScope {
  const top: FunctionScope = { node: root, name: '<module>', body: root, parameters: [], class: null };
  const module: ModuleScope = {
    ...{ root, imports: readImports(root), classes: new Map(), functions: new Map() },
    ...{ scopes: [top], scopeOf: new Map(), calls: readCalls(root), gradOff: new Map() },
    ...{ bound: new Map(), reaching: new Map(), changedGlobals: readChangedGlobals(root) },
  };
  for (const node of descend(root)) {
    if (node.type === 'class_definition') readClass(node, module);
  }
  for (const node of descend(root)) {
    if (node.type !== 'function_definition') continue;
    const owner = ownerClass(node, module);
    const scope = readFunction(node, owner);
    if (scope === null) continue;
    module.scopes.push(scope);
    if (owner !== null) owner.methods.set(scope.name, scope);
    else if (definitionParent(node)?.type === 'module') module.functions.set(scope.name, scope);
  }
  for (const scope of module.scopes) module.scopeOf.set(scope.node.id, scope);
  return module;
}

function readCalls(root: Node): Map<string, Node[]> {
  const calls = new Map<string, Node[]>();
  for (const node of descend(root)) {
    if (node.type !== 'call') continue;
    const target = node.childForFieldName('function');
    const attribute = target?.childForFieldName('attribute');
    const name = attribute ? `.${attribute.text}` : target?.type === 'identifier' ? target.text : null;
    if (name === null) continue;
    const list = calls.get(name);
    if (list === undefined) calls.set(name, [node]);
    else list.push(node);
  }
  return calls;
}

function readChangedGlobals(root: Node): Set<string> {
  const changed = new Set<string>();
  for (const node of descend(root)) {
    if (node.type === 'global_statement') for (const name of children(node)) changed.add(name.text);
  }
  return changed;
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

function readImports(root: Node): Map<string, string> {
  const imports = new Map<string, string>();
  for (const node of descend(root)) {
    if (node.type !== 'import_statement' && node.type !== 'import_from_statement') continue;
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
  return imports;
}

function readClass(node: Node, module: ModuleScope): void {
  const name = node.childForFieldName('name')?.text;
  if (name === undefined) return;
  const bases = node.childForFieldName('superclasses');
  const isModule = (bases === null ? [] : children(bases)).some((base) => {
    const dotted = dottedName(base, module.imports);
    if (dotted !== null) return dotted === 'torch.nn.Module' || /(^|\.)LightningModule$/.test(dotted);
    return module.classes.get(base.text)?.isModule === true;
  });
  module.classes.set(name, { node, name, isModule, methods: new Map() });
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
  const name = node.childForFieldName('name')?.text;
  const body = node.childForFieldName('body');
  if (name === undefined || body === null) return null;
  const list = node.childForFieldName('parameters');
  const parameters = (list === null ? [] : children(list)).map((parameter) => {
    if (parameter.type === 'identifier') return parameter.text;
    return (parameter.childForFieldName('name') ?? children(parameter)[0])?.text ?? '';
  });
  return { node, name, body, parameters, class: owner };
}
