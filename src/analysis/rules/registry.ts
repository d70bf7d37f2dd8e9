import { autocastCache } from './autocastCache';
import { averageKeepsGraph } from './averageKeepsGraph';
import { backwardCreateGraph } from './backwardCreateGraph';
import { cachedMethod } from './cachedMethod';
import { capturedTensor } from './capturedTensor';
import { ctxAttribute } from './ctxAttribute';
import { dataloaderInLoop } from './dataloaderInLoop';
import { deviceMoveKeepsGraph } from './deviceMoveKeepsGraph';
import { diagnosticsLeftOn } from './diagnosticsLeftOn';
import { doubleResidency } from './doubleResidency';
import { exceptionKeepsFrames } from './exceptionKeepsFrames';
import { finderLeftovers } from './finderLeftovers';
import { freeEveryIteration } from './freeEveryIteration';
import { gradientsKept } from './gradientsKept';
import { graphAppended } from './graphAppended';
import { graphSummed } from './graphSummed';
import { hookStoresActivation } from './hookStoresActivation';
import { inferenceWithGrad } from './inferenceWithGrad';
import { loggerKeepsTensor } from './loggerKeepsTensor';
import { meterStoresGraph } from './meterStoresGraph';
import { metricNotReset } from './metricNotReset';
import { outputsKeptOnDevice } from './outputsKeptOnDevice';
import { placeboFree } from './placeboFree';
import { queueKeepsGraph } from './queueKeepsGraph';
import { referenceCycle } from './referenceCycle';
import { rolloutKeepsHistory } from './rolloutKeepsHistory';
import { aliveAcrossPeak } from './aliveAcrossPeak';
import { checkpointKept } from './checkpointKept';
import { freeWhileReferenced } from './freeWhileReferenced';
import { incompleteDelete } from './incompleteDelete';
import { modelRebuiltWhileAlive } from './modelRebuiltWhileAlive';
import { notebookGlobal } from './notebookGlobal';
import { carriedState } from './carriedState';
import { needlessRetainGraph } from './needlessRetainGraph';
import { fakeNotDetached } from './fakeNotDetached';
import { frozenModelWithGrad } from './frozenModelWithGrad';
import { inputChain } from './inputChain';
import { graphsUntilOneBackward } from './graphsUntilOneBackward';
import type { Rule } from './rule';
import { stepOutputsNotCleared } from './stepOutputsNotCleared';
import { suspendedGenerator } from './suspendedGenerator';
import { tensorBetweenProcesses } from './tensorBetweenProcesses';
import { unboundedCache } from './unboundedCache';
import { viewKeepsStorage } from './viewKeepsStorage';
import { weightsCopiedOnDevice } from './weightsCopiedOnDevice';

/** Every rule, once. Where two have something to say of one statement, the earlier one here speaks. */
export const rules: readonly Rule[] = [
  hookStoresActivation,
  stepOutputsNotCleared,
  unboundedCache,
  rolloutKeepsHistory,
  deviceMoveKeepsGraph,
  inferenceWithGrad,
  backwardCreateGraph,
  autocastCache,
  averageKeepsGraph,
  queueKeepsGraph,
  weightsCopiedOnDevice,
  capturedTensor,
  exceptionKeepsFrames,
  cachedMethod,
  ctxAttribute,
  freeEveryIteration,
  gradientsKept,
  metricNotReset,
  loggerKeepsTensor,
  meterStoresGraph,
  graphSummed,
  graphAppended,
  viewKeepsStorage,
  outputsKeptOnDevice,
  doubleResidency,
  finderLeftovers,
  suspendedGenerator,
  aliveAcrossPeak,
  checkpointKept,
  freeWhileReferenced,
  incompleteDelete,
  modelRebuiltWhileAlive,
  diagnosticsLeftOn,
  notebookGlobal,
  carriedState,
  needlessRetainGraph,
  fakeNotDetached,
  frozenModelWithGrad,
  inputChain,
  graphsUntilOneBackward,
  tensorBetweenProcesses,
  dataloaderInLoop,
  referenceCycle,
  placeboFree,
];

/** The slugs of RULES.md that the rules report. */
export const ruleSlugs: readonly string[] = rules.flatMap((rule) => rule.slugs);
