import type { Edit } from '../finding';
import { namesAt } from '../flow/names';
import type { Program } from '../rules/rule';
import { functionAround } from '../scopes/gradMode';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';

/** A call as a file writes it, and the import it lacks for that. */
export interface ImportedCall {
  call: string;
  /** A line for the file's imports; null where it has all it needs. */
  missing: string | null;
}

/**
 * `torch.cuda.empty_cache()` by the names that the file imports at a place: `cuda.empty_cache()` after
 * `from torch import cuda`.
 */
export function importedCall(dotted: string, place: Node, program: Program): ImportedCall {
  let nearest: { name: string; meaning: string } | null = null;
  for (const [name, meaning] of program.module.imports) {
    const isPart = dotted === meaning || dotted.startsWith(`${meaning}.`);
    if (!isPart || (nearest !== null && nearest.meaning.length >= meaning.length)) continue;
    if (isSeen(name, place, program)) nearest = { name, meaning };
  }
  if (nearest !== null) return { call: `${nearest.name}${dotted.slice(nearest.meaning.length)}()`, missing: null };
  const [root = dotted] = dotted.split('.');
  if (!isBoundOtherwise(root, program)) return { call: `${dotted}()`, missing: `import ${root}` };
  return { call: `_${dotted}()`, missing: `import ${root} as _${root}` };
}

/** The lines behind the imports at the top of a file, or at its top where there are none. */
export function importsAdded(lines: readonly string[], { module: { root }, source }: Program): Edit[] {
  if (lines.length === 0) return [];
  const statements = children(root);
  const first = statements.findIndex(isImport);
  const behind = statements.findIndex((one, at) => at > first && !isImport(one));
  const run = first < 0 ? [] : statements.slice(first, behind < 0 ? undefined : behind);
  const docstring = statements[0]?.type === 'expression_statement' && children(statements[0])[0]?.type === 'string';
  const before = run.at(-1) ?? (docstring ? statements[0] : undefined);
  const lineBreak = source.includes('\r\n') ? '\r\n' : '\n';
  if (before === undefined) {
    const start = source.lastIndexOf('\n', (statements[0]?.startIndex ?? 0) - 1) + 1;
    return [{ start, end: start, newText: `${lines.join(lineBreak)}${lineBreak}${lineBreak}` }];
  }
  const newline = source.indexOf('\n', before.endIndex);
  const end = newline < 0 ? source.length : newline;
  const at = source[end - 1] === '\r' ? end - 1 : end;
  const gap = run.length === 0 ? lineBreak : '';
  return [{ start: at, end: at, newText: gap + lines.map((line) => `${lineBreak}${line}`).join('') }];
}

const isImport = (statement: Node): boolean => /^(import|import_from|future_import)_statement$/.test(statement.type);

/** Whether an import has bound a name at a place, for certain, and nothing else does. */
function isSeen(name: string, place: Node, program: Program): boolean {
  if (isBoundOtherwise(name, program)) return false;
  const inside = functionAround(place);
  for (const statement of descend(program.module.root)) {
    if (!isImport(statement) || !imports(statement, name)) continue;
    const around = functionAround(statement);
    const isTop = statement.parent?.type === 'module';
    const isHere = around !== null && around.id === inside?.id && statement.parent === around.childForFieldName('body');
    const isBefore = statement.endIndex <= place.startIndex;
    if ((isTop && (inside !== null || isBefore)) || (isHere && isBefore)) return true;
  }
  return false;
}

function imports(statement: Node, name: string): boolean {
  const from = statement.childForFieldName('module_name');
  return children(statement).some((item) => {
    if (item === from) return false;
    const bound = item.childForFieldName('alias')?.text ?? item.text;
    return bound === name || (from === null && item.type === 'dotted_name' && bound.startsWith(`${name}.`));
  });
}

function isBoundOtherwise(name: string, { functions }: Program): boolean {
  return functions.some(({ graph, scope }) => {
    if (scope.parameters.includes(name)) return true;
    return namesAt(graph).some(
      ({ writes }, id) => writes.has(name) && !isImport(graph.points[id]?.syntax ?? scope.node),
    );
  });
}
