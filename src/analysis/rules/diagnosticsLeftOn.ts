import { statementAround } from '../syntax/statements';
import { text, type Finding, type Fix, type Text } from '../finding';
import { removal } from '../fixes/statementLines';
import { backPropagatesAnything } from '../flow/backward';
import { loopsAround } from '../flow/loops';
import { backwardCallIn, trainsWithin } from '../flow/training';
import { calledName, callsWithin, isInner, keyword, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { contextsOf } from './autocastCache';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P41 `diagnostics-left-on`: anomaly detection, a profiler without a schedule or unbounded recording of memory history in
 * code that trains. What a condition switches on is meant to be on.
 */
export const diagnosticsLeftOn: Rule = {
  slugs: ['diagnostics-left-on'],
  mentions: /anomaly|profile|memory_history|retain_grad/,
  *find(one, program) {
    if (!backPropagatesAnything(program.module)) return;
    for (const { syntax, own } of one.graph.points) {
      if (isConditional(syntax) || /^test_/.test(one.scope.name)) continue;
      if (syntax.type === 'with_statement') {
        for (const context of contextsOf(syntax)) yield* aroundTraining(context, syntax, one, program);
        continue;
      }
      for (const call of own.flatMap((part) => [...callsWithin(part)])) {
        const found =
          anomaly(call, one, program) ?? memoryHistory(call, one, program) ?? gradientsOfLayers(call, program);
        if (found !== null) yield found;
      }
    }
  },
};

function isConditional(statement: Node): boolean {
  for (let at = statement.parent; at !== null && !isInner(at); at = at.parent) {
    if (/^(if_statement|elif_clause|else_clause|try_statement|except_clause|conditional_expression)$/.test(at.type)) {
      // `if __name__ == "__main__":` is no condition of the run.
      if (!/__name__/.test(at.childForFieldName('condition')?.text ?? '')) return true;
    }
  }
  return false;
}

function dottedCall(call: Node, one: Interpreted): string | null {
  const target = call.type === 'call' ? call.childForFieldName('function') : null;
  return target === null ? null : one.evaluator.dotted(target);
}

/** `torch.autograd.set_detect_anomaly(True)` that nothing switches off again. */
function anomaly(call: Node, one: Interpreted, program: Program): Finding | null {
  if (!/^torch\.autograd\.(anomaly_mode\.)?set_detect_anomaly$/.test(dottedCall(call, one) ?? '')) return null;
  if (positional(call)[0]?.type !== 'true' && keyword(call, 'mode')?.type !== 'true') return null;
  if (/set_detect_anomaly\((mode\s*=\s*)?(?!True\b|mode\s*=\s*True\b)/.test(program.source)) return null;
  const statement = statementAround(call);
  const isWhole = statement.type === 'expression_statement' && children(statement)[0] === call;
  const fix: Fix = {
    ...{ title: text('Remove {0}', call.text), safe: false },
    edits: [removal(statement, program.source)],
  };
  return finding(call, anomalyMessage, isWhole ? [fix] : []);
}

const anomalyMessage = text(
  'Anomaly detection stays on for the whole training: every operation keeps a Python traceback in host memory as long as its graph, and each step is much slower. Without it both are gone.',
);

/** `with detect_anomaly():` or a profiler without a schedule, with a training loop inside. */
function* aroundTraining(context: Node, statement: Node, one: Interpreted, program: Program): Iterable<Finding> {
  const name = dottedCall(context, one) ?? '';
  const isAnomaly = /^torch\.autograd\.(anomaly_mode\.)?(set_)?detect_anomaly$/.test(name);
  const isProfiler = /^torch\.(autograd\.)?profiler\.profile$/.test(name);
  if (!isAnomaly && !isProfiler) return;
  const switches = [
    keyword(context, 'schedule'),
    keyword(context, 'enabled'),
    keyword(context, 'mode'),
    positional(context)[0],
  ];
  if (switches.some((given) => given && given.type !== 'true' && given.type !== 'none')) return;
  const body = statement.childForFieldName('body');
  const loop = body === null ? null : longTrainingLoop(body, program);
  if (loop === null) return;
  const inside = reason(loop, text('All rounds of this training loop run inside it.'));
  if (isAnomaly) yield finding(context, anomalyMessage, [], [inside]);
  else
    yield finding(
      context,
      text(
        'The profiler records every operation of the whole training: its events stay in host memory until it ends. With schedule=torch.profiler.schedule(…) and prof.step() it keeps a few steps only.',
      ),
      [],
      [inside],
    );
}

/** A loop that trains and that neither a small count nor a `break` ends early. */
function longTrainingLoop(body: Node, { module }: Program): Node | null {
  for (const node of descend(body, (inner) => !isInner(inner))) {
    if (node.type !== 'for_statement' && node.type !== 'while_statement') continue;
    const over = node.childForFieldName('right')?.text ?? '';
    const isShort =
      /^range\(\d{1,2}\)$|islice|\[:/.test(over) || [...descend(node)].some((one) => one.type === 'break_statement');
    if (!isShort && trainsWithin(node, module)) return node;
  }
  return null;
}

/** `torch.cuda.memory._record_memory_history()` without a bound that nothing ends. */
function memoryHistory(call: Node, one: Interpreted, { source }: Program): Finding | null {
  if (!/^torch\.cuda\.memory\._record_memory_history$/.test(dottedCall(call, one) ?? '')) return null;
  const enabled = keyword(call, 'enabled') ?? positional(call)[0];
  if (enabled?.type === 'none' || enabled?.type === 'false') return null;
  const bounds = ['max_entries', 'trace_alloc_max_entries'].some((name) => keyword(call, name) !== null);
  if (bounds || /_record_memory_history\((enabled\s*=\s*)?(None|False)/.test(source)) return null;
  const at = call.endIndex - 1;
  const isEmpty = children(call.childForFieldName('arguments') ?? call).length === 0;
  const newText = `${isEmpty ? '' : ', '}max_entries=100000`;
  return finding(
    call,
    text(
      'Every allocation of the run is recorded with its stack, without a bound: host memory grows until the program ends. With max_entries the oldest ones are dropped.',
    ),
    [
      {
        title: text('Keep the last events only: {0}', 'max_entries=100000'),
        safe: false,
        edits: [{ start: at, end: at, newText }],
      },
    ],
  );
}

/** `h.retain_grad()` in a training loop where nothing reads a gradient. */
function gradientsOfLayers(call: Node, { module, source }: Program): Finding | null {
  const statement = statementAround(call);
  const object = call.childForFieldName('function')?.childForFieldName('object');
  if (calledName(call) !== 'retain_grad' || object?.type !== 'identifier' || statement.type !== 'expression_statement')
    return null;
  const [loop] = loopsAround(statement);
  if (loop === undefined || backwardCallIn(loop) === null || /\.grad\b|['"]grad['"]/.test(source)) return null;
  if (module.imports.get(object.text) !== undefined) return null;
  return finding(
    call,
    text(
      '{0} keeps its gradient after backward(), a block as large as itself on the GPU until {0} is dropped, and nothing in this file reads it. Without retain_grad() it is freed at once.',
      object.text,
    ),
    [{ title: text('Remove {0}', call.text), safe: true, edits: [removal(statement, source)] }],
    [reason(loop, text('This runs once per training step.'))],
  );
}

function finding(call: Node, message: Text, fixes: Fix[], more: Finding['chain'] = []): Finding {
  return {
    ...{ rule: 'diagnostics-left-on', severity: 'hint', start: call.startIndex, end: call.endIndex },
    message,
    chain: [reason(call, text('It is switched on here, and no condition of the run decides about it.')), ...more],
    fixes,
  };
}
