import { afterEach, describe, expect, it } from 'vitest';
import { contextSearch, currentLocation, href, matchRoute, navigate, parseLegacyLink, sessionPath } from './router';

const at = (path: string, search = '') => matchRoute({ path, search });

afterEach(() => {
  document.querySelector('base')?.remove();
  history.replaceState(null, '', '/');
});

describe('routes', () => {
  it('knows the pages', () => {
    expect(at('/')).toEqual({ page: 'sessions' });
    expect(at('/runs')).toEqual({ page: 'runs' });
    expect(at('/runs', '?run=a%2Fb')).toEqual({ page: 'sessions' });
    expect(at('/runs/p/local/r%201')).toEqual({ page: 'run', project: 'p', location: 'local', id: 'r 1' });
    expect(at('/admin')).toEqual({ page: 'admin', part: '' });
    expect(at('/admin/tokens')).toEqual({ page: 'admin', part: 'tokens' });
    expect(at('/account')).toEqual({ page: 'account' });
    expect(at('/s/abc/overview')).toEqual({ page: 'session', sessionId: 'abc', tool: 'overview' });
    expect(at('/s/abc/timeline/')).toEqual({ page: 'session', sessionId: 'abc', tool: 'timeline' });
  });
  it('sends a bare session to its overview and keeps the state', () => {
    expect(at('/s/abc', '?h=1')).toEqual({ page: 'redirect', to: '/s/abc/overview?h=1' });
  });
  it('names a wrong tool and a wrong page', () => {
    expect(at('/s/abc/hlo_stats')).toEqual({ page: 'session', sessionId: 'abc', tool: 'hlo_stats' });
    expect(at('/s/abc/no/thing')).toEqual({ page: 'unknown_tool', sessionId: 'abc', tool: 'no/thing' });
    expect(at('/elsewhere')).toEqual({ page: 'not_found', path: '/elsewhere' });
  });
  it('survives an id that is no valid escape', () => expect(at('/s/%E0%A4%A/overview').page).toBe('session'));
  it('escapes ids', () => expect(sessionPath('a/b', 'files')).toBe('/s/a%2Fb/files'));
});

describe("XProf's old addresses", () => {
  it('are recognised by their run', () => {
    expect(parseLegacyLink({ path: '/trace_viewer@', search: '?run=r/s&tag=trace_viewer@' })).toEqual({ run: 'r/s', tool: 'timeline', search: '' });
    expect(parseLegacyLink({ path: '/overview_page', search: '?run=r/s' })).toEqual({ run: 'r/s', tool: 'overview', search: '' });
    expect(parseLegacyLink({ path: '/', search: '?q=x' })).toBeNull();
    expect(at('/memory_viewer/', '?run=r/s').page).toBe('sessions');
  });
  it('keep module, node and host', () => {
    expect(parseLegacyLink({ path: '/', search: '?run=r/s&tag=graph_viewer%5E&module_name=jit_f(12)&node_name=add.1&host=w0' })).toEqual({ run: 'r/s', tool: 'graph_viewer', search: '?h=w0&o.module_name=jit_f(12)&o.node_name=add.1' });
    expect(parseLegacyLink({ path: '/', search: '?run=r/s&tag=op_profile&hosts=ALL_HOSTS' })!.search).toBe('');
  });
  it('let the context follow from tool to tool', () => {
    expect(contextSearch('?b=s2&sort=-x&h=w0,w1')).toBe('?b=s2&h=w0%2Cw1');
    expect(contextSearch('?sort=x')).toBe('');
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
