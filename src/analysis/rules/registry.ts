import { averageKeepsGraph } from './averageKeepsGraph';
import { capturedTensor } from './capturedTensor';
import { deviceMoveKeepsGraph } from './deviceMoveKeepsGraph';
import { exceptionKeepsFrames } from './exceptionKeepsFrames';
import { freeEveryIteration } from './freeEveryIteration';
import { gradientsKept } from './gradientsKept';
import { graphAppended } from './graphAppended';
import { graphSummed } from './graphSummed';
import { inferenceWithGrad } from './inferenceWithGrad';
import { loggerKeepsTensor } from './loggerKeepsTensor';
import { meterStoresGraph } from './meterStoresGraph';
import { outputsKeptOnDevice } from './outputsKeptOnDevice';
import { placeboFree } from './placeboFree';
import { queueKeepsGraph } from './queueKeepsGraph';
import { rolloutKeepsHistory } from './rolloutKeepsHistory';
import type { Rule } from './rule';
import { stepOutputsNotCleared } from './stepOutputsNotCleared';
import { unboundedCache } from './unboundedCache';
import { viewKeepsStorage } from './viewKeepsStorage';
import { weightsCopiedOnDevice } from './weightsCopiedOnDevice';

/** Every rule, once. Where two have something to say of one statement, the earlier one here speaks. */
export const rules: readonly Rule[] = [
  stepOutputsNotCleared,
  unboundedCache,
  rolloutKeepsHistory,
  deviceMoveKeepsGraph,
  inferenceWithGrad,
  averageKeepsGraph,
  queueKeepsGraph,
  weightsCopiedOnDevice,
  capturedTensor,
  exceptionKeepsFrames,
  freeEveryIteration,
  gradientsKept,
  loggerKeepsTensor,
  meterStoresGraph,
  graphSummed,
  graphAppended,
  viewKeepsStorage,
  outputsKeptOnDevice,
  placeboFree,
];

/** The slugs of RULES.md that the rules report. */
export const ruleSlugs: readonly string[] = rules.flatMap((rule) => rule.slugs);
