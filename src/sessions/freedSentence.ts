import type { FreeCacheResult } from '../shared/agentProtocol';
import { formatSize } from '../shared/sizes';

/** `l10n.t` of the side that speaks: VS Code's or the command line's. */
export type Translate = (message: string, ...args: string[]) => string;

/** What Free GPU Cache did, in words, with the numbers of all the session's devices together. */
export function freedSentence(result: FreeCacheResult, t: Translate): string {
  if (!result.done) return refusalSentence(result, t);
  const sum = (name: 'returnedBytes' | 'strandedBytes' | 'usedBytes'): number =>
    result.devices.reduce((total, device) => total + device[name], 0);
  const sums = [sum('returnedBytes'), sum('strandedBytes'), sum('usedBytes')];
  const [returned, stranded, used] = sums.map((bytes) => formatSize(bytes, Math.max(...sums))) as [
    string,
    string,
    string,
  ];
  return sum('returnedBytes') > 0
    ? t(
        'Returned {0} to the driver. {1} is stranded in partly used segments; {2} is held by live tensors.',
        returned,
        stranded,
        used,
      )
    : t('Nothing to return. {0} is stranded in partly used segments; {1} is held by live tensors.', stranded, used);
}

function refusalSentence(result: Extract<FreeCacheResult, { done: false }>, t: Translate): string {
  switch (result.reason) {
    case 'capture':
      return t('Nothing was freed: the session is recording a CUDA graph. Try again in a moment.');
    case 'memPool':
      return t('Nothing was freed: the session is inside a memory pool of its own. Try again in a moment.');
    case 'notTorch':
      return t("Nothing was freed: the session does not use PyTorch's caching allocator.");
    case 'noAnswer':
      return t('Nothing was freed: the session did not reach a safe point in time. {0}', result.message);
    case 'failed':
      return t('Nothing was freed: {0}', result.message);
  }
}
