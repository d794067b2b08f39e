import { describe, expect, it } from 'vitest';
import { linkAddress, shareTarget } from './links';

describe('what a link can open', () => {
  it('is the session and the exact view of it', () => {
    expect(shareTarget({ path: '/s/abc/timeline', search: '?v=1s,2ms' })).toEqual({ kind: 'session', id: 'abc', view: '/s/abc/timeline?v=1s,2ms', plain: '/s/abc' });
  });
  it('is the run under its whole name', () => {
    expect(shareTarget({ path: '/runs/p/local/r1', search: '?tab=metrics' })).toEqual({
      kind: 'run',
      id: 'projects/p/locations/local/machineLearningRuns/r1',
      view: '/runs/p/local/r1?tab=metrics',
      plain: '/runs/p/local/r1',
    });
  });
  it('is nothing on a list', () => {
    expect(shareTarget({ path: '/', search: '' })).toBeNull();
    expect(shareTarget({ path: '/runs', search: '?q=x' })).toBeNull();
    expect(shareTarget({ path: '/admin/links', search: '' })).toBeNull();
  });
});

it('has the address of this server', () => expect(linkAddress({ path: '/l/id.sig' }, 'https://strobe.example')).toBe('https://strobe.example/l/id.sig'));
