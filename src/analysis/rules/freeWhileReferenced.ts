import { text } from '../finding';
import { letGoBefore, lettingGo } from '../fixes/release';
import { dottedName, type ModuleScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { reason } from './keptGraph';
import { deadAfter, isCertainlyBound, letGo, workAhead } from './lifetimes';
import type { Program, Rule } from './rule';

const frees = /^(gc\.collect|torch\.cuda\.empty_cache)$/;

/**
 * P13 `free-while-referenced`: `gc.collect()` or `empty_cache()` while names that nothing reads any more still hold what
 * it is meant to free.
 */
export const freeWhileReferenced: Rule = {
  slugs: ['free-while-referenced'],
  mentions: /empty_cache|collect/,
  *find(one, program) {
    if (one.scope.body.type === 'module' && program.cells.length === 0) return;
    for (const [id, point] of one.graph.points.entries()) {
      const { syntax } = point;
      // Of a pair of calls the first is where the `del` belongs.
      const before = previous(syntax);
      if (!isFree(syntax, program) || isFree(before, program) || movesToHost(before)) continue;
      const dead = deadAfter(id, one);
      // Who has let go of names right here has chosen; what a model answered is worth a word all the same.
      const hasChosen = letsGo(before) || (isNamedFree(before) && letsGo(before === null ? null : previous(before)));
      if (hasChosen && dead.every(({ value }) => value.kind === 'tensor' && value.output === null)) continue;
      const next = dead.length === 0 ? null : workAhead(id, one, program);
      if (next === null) continue;
      const names = dead.map(({ name }) => name);
      const lines = lettingGo(names, (name) => isCertainlyBound(name, id, one));
      yield {
        ...{ rule: 'free-while-referenced', severity: 'warning', start: syntax.startIndex, end: syntax.endIndex },
        message: text(
          'This cannot free {0}: the names are still bound, though nothing reads them any more.',
          names.join(', '),
        ),
        chain: [reason(next, text('This computes next, beside what was to be freed.'))],
        fixes: [letGoBefore(syntax, lines, program.source)],
      };
    }
  },
};

/** A statement that only collects garbage or gives the cache back, itself or by a function of this file. */
function isFree(statement: Node | null, { module }: Program): boolean {
  const call = statement?.type === 'expression_statement' ? children(statement)[0] : undefined;
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  if (target === null || target === undefined) return false;
  if (frees.test(dottedName(target, module.imports) ?? '')) return true;
  // `free_memory()` of this file, that does nothing else.
  const own = module.functions.get(target.text);
  return own !== undefined && onlyFrees(own.body, module);
}

const freeing = /^(gc\.collect|torch\.cuda\.(empty_cache|ipc_collect|synchronize))$/;

/** A block of such calls, perhaps where there is a GPU only. */
function onlyFrees(block: Node, module: ModuleScope): boolean {
  const statements = children(block).filter((one) => !isDocstring(one));
  return (
    statements.length > 0 &&
    statements.every((one) => {
      const inner = one.type === 'if_statement' ? one.childForFieldName('consequence') : null;
      if (inner !== null)
        return /is_available\(\)$/.test(one.childForFieldName('condition')?.text ?? '') && onlyFrees(inner, module);
      const call = children(one)[0];
      const target = call?.type === 'call' ? call.childForFieldName('function') : null;
      return target !== null && target !== undefined && freeing.test(dottedName(target, module.imports) ?? '');
    })
  );
}

/** A docstring. */
const isDocstring = (statement: Node): boolean =>
  statement.type === 'expression_statement' && /^["']/.test(statement.text);

const letsGo = (statement: Node | null): boolean => statement !== null && letGo(statement).length > 0;

/** `empty_cache()` of a library. */
const isNamedFree = (statement: Node | null): boolean => /^(\w+\.)*empty_cache\(\)$/.test(statement?.text ?? '');

/** `model.to("cpu")` right before: what that has left on the device is freed. */
function movesToHost(statement: Node | null): boolean {
  const call = statement?.type === 'expression_statement' ? children(statement)[0] : undefined;
  return call?.type === 'call' && /\.(cpu\(\)|to\((device=)?["']cpu["']\))$/.test(call.text);
}

function previous(statement: Node): Node | null {
  const block = statement.parent === null ? [] : children(statement.parent);
  return block[block.indexOf(statement) - 1] ?? null;
}
