/** Runtime checks of what an agent says: another program, perhaps another version, never to be trusted by type alone. */
import {
  lifecycleStates,
  type FreeCacheResult,
  type FreedDevice,
  type HelloResult,
  type Lifecycle,
  type LifecycleState,
  type Sample,
  type SessionDevice,
  type SimulationMode,
  type Step,
} from '../shared/agentProtocol';

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function hasCounts(value: Fields, names: readonly string[]): boolean {
  return names.every((name) => isCount(value[name]));
}

function hasStrings(value: Fields, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'string');
}

function isSimulationMode(value: unknown): value is SimulationMode {
  return value === 'exact' || value === 'approximate' || value === 'estimate';
}

export function isLifecycleState(value: unknown): value is LifecycleState {
  return (lifecycleStates as readonly unknown[]).includes(value);
}

function isSessionDevice(value: unknown): value is SessionDevice {
  return (
    isFields(value) &&
    hasCounts(value, ['index', 'totalBytes']) &&
    typeof value['name'] === 'string' &&
    (value['uuid'] === null || typeof value['uuid'] === 'string')
  );
}

export function isHelloResult(value: unknown): value is HelloResult {
  return (
    isFields(value) &&
    hasCounts(value, ['protocol', 'pid', 'step']) &&
    hasStrings(value, ['agent', 'script', 'cwd', 'python', 'torch']) &&
    isTime(value['startTimeMs']) &&
    (value['simulated'] === null || isSimulationMode(value['simulated'])) &&
    (value['rank'] === null || isCount(value['rank'])) &&
    (value['worldSize'] === null || isCount(value['worldSize'])) &&
    isLifecycleState(value['state']) &&
    Array.isArray(value['devices']) &&
    value['devices'].every(isSessionDevice)
  );
}

export function isSample(value: unknown): value is Sample {
  return (
    isFields(value) &&
    isTime(value['timeMs']) &&
    hasCounts(value, [
      'device',
      'usedBytes',
      'reservedBytes',
      'activeBytes',
      'strandedBytes',
      'releasableBytes',
      'pendingBytes',
      'peakUsedBytes',
      'peakReservedBytes',
      'retries',
      'ooms',
    ]) &&
    (value['requestedBytes'] === null || isCount(value['requestedBytes']))
  );
}

export function isStep(value: unknown): value is Step {
  return isFields(value) && isTime(value['timeMs']) && hasCounts(value, ['step', 'usedBytes']);
}

export function isLifecycle(value: unknown): value is Lifecycle {
  return isFields(value) && isTime(value['timeMs']) && isLifecycleState(value['state']);
}

function isFreedDevice(value: unknown): value is FreedDevice {
  return (
    isFields(value) &&
    hasCounts(value, [
      'index',
      'reservedBeforeBytes',
      'reservedAfterBytes',
      'returnedBytes',
      'strandedBytes',
      'usedBytes',
    ])
  );
}

const refusals: readonly unknown[] = ['capture', 'memPool', 'notTorch', 'noAnswer', 'failed'];

export function isFreeCacheResult(value: unknown): value is FreeCacheResult {
  if (!isFields(value)) return false;
  if (value['done'] === true) {
    return (
      (value['where'] === 'afterStep' || value['where'] === 'idle') &&
      typeof value['collected'] === 'boolean' &&
      Array.isArray(value['devices']) &&
      value['devices'].every(isFreedDevice)
    );
  }
  return value['done'] === false && refusals.includes(value['reason']) && typeof value['message'] === 'string';
}
