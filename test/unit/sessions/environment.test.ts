import { describe, expect, it } from 'vitest';
import { agentEnvironment } from '../../../src/sessions/environment';

const real = { home: '/h', simulate: null };

describe('agentEnvironment', () => {
  it('stands alone where there is no PYTHONPATH, without an empty entry', () => {
    expect(agentEnvironment({}, real)).toEqual({ PYTHONPATH: '/h/agent:/h/simulator' });
    expect(agentEnvironment({ PYTHONPATH: '' }, real)).toEqual({ PYTHONPATH: '/h/agent:/h/simulator' });
  });

  it('goes before what is there, once', () => {
    expect(agentEnvironment({ PYTHONPATH: '/a:/b' }, real)['PYTHONPATH']).toBe('/h/agent:/h/simulator:/a:/b');
    expect(agentEnvironment({ PYTHONPATH: '/h/agent:/a' }, real)['PYTHONPATH']).toBe('/h/agent:/h/simulator:/a');
    expect(agentEnvironment({ PYTHONPATH: '/h/agent' }, real)['PYTHONPATH']).toBe('/h/agent:/h/simulator');
  });

  it('adds the sizes of simulated devices', () => {
    expect(agentEnvironment({}, { home: '/h', simulate: '24GiB,8GiB' })).toEqual({
      PYTHONPATH: '/h/agent:/h/simulator',
      VRAM_LENS_SIMULATE: '24GiB,8GiB',
    });
  });
});
