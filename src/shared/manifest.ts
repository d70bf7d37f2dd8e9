/** Every id that package.json contributes, once. A unit test compares these with the manifest. */
export const viewContainerId = 'vramLens';
export const panelViewId = 'vramLens.panel';

export const commandIds = {
  freeGpuCache: 'vramLens.freeGpuCache',
  focusPanel: 'vramLens.panel.focus',
  runWithAgent: 'vramLens.runWithAgent',
  runSimulated: 'vramLens.runSimulated',
  showLog: 'vramLens.showLog',
} as const;

export const settingKeys = {
  /** Put the agent into terminals, tasks and debug sessions. */
  agentEnabled: 'vramLens.agent.enabled',
  /** Samples per second that a session sends while somebody watches. */
  samplesPerSecond: 'vramLens.agent.samplesPerSecond',
  /** Python that the Run commands use; empty: the Python extension's choice. */
  interpreter: 'vramLens.python.interpreter',
  /** Find leaks in Python files and notebooks. */
  analysisEnabled: 'vramLens.analysis.enabled',
  /** The rules that report; none named: all. */
  analysisSelect: 'vramLens.analysis.select',
  analysisIgnore: 'vramLens.analysis.ignore',
} as const;

/** Environment variables the agent and the simulator read. */
export const environmentVariables = {
  /** `off` keeps the agent out. */
  agent: 'VRAM_LENS',
  /** Sizes of simulated devices, e.g. `24GiB` or `24GiB,24GiB`; absent: no simulation. */
  simulate: 'VRAM_LENS_SIMULATE',
} as const;
