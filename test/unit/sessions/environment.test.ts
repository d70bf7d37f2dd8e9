import { describe, expect, it } from 'vitest';
import { agentEnvironment } from '../../../src/sessions/environment';

const real = { home: '/h', simulate: null };

describe('agentEnvironment', () => {
  it('stands alone where there is no PYTHONPATH, without an empty entry', () => {
    expect(agentEnvironment({}, real)).toEqual({ PYTHONPATH: '/h/agent' });
    expect(agentEnvironment({ PYTHONPATH: '' }, real)).toEqual({ PYTHONPATH: '/h/agent' });
  });

  it('goes before what is there, once', () => {
    expect(agentEnvironment({ PYTHONPATH: '/a:/b' }, real)['PYTHONPATH']).toBe('/h/agent:/a:/b');
    expect(agentEnvironment({ PYTHONPATH: '/h/agent:/a' }, real)['PYTHONPATH']).toBe('/h/agent:/a');
    expect(agentEnvironment({ PYTHONPATH: '/h/agent' }, real)['PYTHONPATH']).toBe('/h/agent');
  });

  it('adds the simulator and the sizes', () => {
    expect(agentEnvironment({}, { home: '/h', simulate: '24GiB,8GiB' })).toEqual({
      PYTHONPATH: '/h/agent:/h/simulator',
      VRAM_LENS_SIMULATE: '24GiB,8GiB',
    });
  });
});
