import { afterEach, describe, expect, it } from 'vitest';
import { currentLocation, href, matchRoute, navigate, parseLegacyLink, sessionPath } from './router';

const at = (path: string, search = '') => matchRoute({ path, search });

afterEach(() => {
  document.querySelector('base')?.remove();
  history.replaceState(null, '', '/');
});

describe('routes', () => {
  it('knows the pages', () => {
    expect(at('/')).toEqual({ page: 'sessions' });
    expect(at('/runs')).toEqual({ page: 'sessions' });
    expect(at('/s/abc/overview')).toEqual({ page: 'session', sessionId: 'abc', tool: 'overview' });
    expect(at('/s/abc/timeline/')).toEqual({ page: 'session', sessionId: 'abc', tool: 'timeline' });
  });
  it('sends a bare session to its overview and keeps the state', () => {
    expect(at('/s/abc', '?h=1')).toEqual({ page: 'redirect', to: '/s/abc/overview?h=1' });
  });
  it('names a wrong tool and a wrong page', () => {
    expect(at('/s/abc/nothing')).toEqual({ page: 'unknown_tool', sessionId: 'abc', tool: 'nothing' });
    expect(at('/elsewhere')).toEqual({ page: 'not_found', path: '/elsewhere' });
  });
  it('survives an id that is no valid escape', () => expect(at('/s/%E0%A4%A/overview').page).toBe('session'));
  it('escapes ids', () => expect(sessionPath('a/b', 'files')).toBe('/s/a%2Fb/files'));
});

describe("XProf's old addresses", () => {
  it('are recognised by their run', () => {
    expect(parseLegacyLink({ path: '/trace_viewer@', search: '?run=r/s&tag=trace_viewer@' })).toEqual({ run: 'r/s', tool: 'timeline' });
    expect(parseLegacyLink({ path: '/overview_page', search: '?run=r/s' })).toEqual({ run: 'r/s', tool: 'overview' });
    expect(parseLegacyLink({ path: '/', search: '?q=x' })).toBeNull();
    expect(at('/memory_viewer/', '?run=r/s').page).toBe('sessions');
  });
});

describe('base path', () => {
  it('is taken from <base href>', () => {
    const base = document.createElement('base');
    base.setAttribute('href', '/a/b/');
    document.head.append(base);
    expect(href('/s/x/files')).toBe('/a/b/s/x/files');
    navigate('/s/x/files?q=1');
    expect(window.location.pathname).toBe('/a/b/s/x/files');
    expect(currentLocation()).toEqual({ path: '/s/x/files', search: '?q=1' });
  });
});
