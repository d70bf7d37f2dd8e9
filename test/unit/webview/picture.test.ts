import { describe, expect, it } from 'vitest';
import { GiB } from '../../../src/shared/units';
import type { LifecycleState } from '../../../src/shared/agentProtocol';
import type { PanelState } from '../../../src/shared/panelProtocol';
import { makePicture } from '../../../src/webview/panel/picture';
import { device, noDriver, session } from '../../webview/states';

/** One simulated device per run of a script, as the simulator gives them. */
function runs(...states: LifecycleState[]): PanelState {
  return {
    ...noDriver(),
    devices: states.map((_, i) => device({ key: `SIM-${i}`, simulated: true, ledger: { totalBytes: (2 + i) * GiB } })),
    sessions: states.map((state, i) =>
      session({ key: `s${i}`, state, simulated: 'exact', deviceKeys: [`SIM-${i}`], usedBytes: 0, reservedBytes: 0 }),
    ),
  };
}

const keysOf = (state: PanelState, wanted: string | null): string[] =>
  makePicture(state, wanted).devices.map(({ view }) => view.key);

describe('the picture of several runs', () => {
  it('shows the device of the running session, and its row first', () => {
    const picture = makePicture(runs('ended', 'training'), null);
    expect(picture.chosen?.view.key).toBe('SIM-1');
    expect(picture.devices.map(({ view }) => view.key)).toEqual(['SIM-1']);
    expect(picture.sessions.map(({ view }) => view.key)).toEqual(['s1', 's0']);
  });

  it('keeps a simulated device whose session has ended while nothing runs, or while it is chosen', () => {
    expect(keysOf(runs('ended'), null)).toEqual(['SIM-0']);
    expect(keysOf(runs('ended', 'training'), 'SIM-0')).toEqual(['SIM-0', 'SIM-1']);
  });

  it('never hides a real device', () => {
    const state = runs('ended', 'training');
    const real = { ...state, devices: state.devices.map((view) => ({ ...view, simulated: false })) };
    expect(keysOf(real, null)).toEqual(['SIM-0', 'SIM-1']);
    expect(makePicture(real, null).chosen?.view.key).toBe('SIM-1');
  });
});
