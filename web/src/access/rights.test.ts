import { describe, expect, it } from 'vitest';
import { offeredProjects } from '../admin/ProjectField';
import { partsFor } from '../admin/AdminPage';
import { actionWords } from '../admin/AuditPart';
import { ended } from '../admin/AccessTable';
import { containsFilter, joinFilters, mayDo, projectsWith, quoted } from './rights';
import type { Me } from './types';

const user = (rights: Me['rights']): Me => ({ kind: 'user', subject: 'user:x', rights, links: [], csrf_token: 't' });
const local: Me = { kind: 'local', subject: null, csrf_token: null };
const viewer = user({ everywhere: [], projects: { a: ['view'] } });
const editor = user({ everywhere: ['view'], projects: { a: ['view', 'edit', 'capture'] } });
const projectAdmin = user({ everywhere: [], projects: { a: ['view', 'edit', 'capture', 'admin'] } });
const serverAdmin = user({ everywhere: ['view', 'edit', 'capture', 'admin'], projects: {} });

describe('who may do what', () => {
  it('is nothing while nobody is known, everything without access control', () => {
    expect(mayDo(null, 'view')).toBe(false);
    expect(mayDo(local, 'admin', 'a')).toBe(true);
    expect(mayDo({ kind: 'link', subject: null, csrf_token: null, rights: { everywhere: [], projects: {} } }, 'view')).toBe(false);
  });
  it('is by project, and anywhere when none is named', () => {
    expect(mayDo(viewer, 'view', 'a')).toBe(true);
    expect(mayDo(viewer, 'view', 'b')).toBe(false);
    expect(mayDo(viewer, 'edit')).toBe(false);
    expect(mayDo(editor, 'view', 'b')).toBe(true);
    expect(mayDo(editor, 'edit', 'b')).toBe(false);
    expect(mayDo(editor, 'capture')).toBe(true);
  });
  it('is over the server only by a role everywhere', () => {
    expect(mayDo(projectAdmin, 'admin', '*')).toBe(false);
    expect(mayDo(serverAdmin, 'admin', '*')).toBe(true);
    expect(mayDo(user({ everywhere: [], projects: { '*': ['admin'] } }), 'admin', '*')).toBe(false);
  });
  it('names the projects of a right', () => expect(projectsWith(editor, 'edit')).toEqual(['a']));
});

describe('the administration', () => {
  it('shows each the parts that they may use', () => {
    expect(partsFor(viewer)).toEqual([]);
    expect(partsFor(projectAdmin).map((part) => part.id)).toEqual(['roles', 'links']);
    expect(partsFor(serverAdmin)).toHaveLength(7);
  });
  it('offers the projects in which one has the right', () => {
    expect(offeredProjects(serverAdmin, ['z', 'b'], 'admin')).toEqual(['default', 'b', 'z']);
    expect(offeredProjects(projectAdmin, ['z'], 'admin')).toEqual(['a']);
  });
  it('tells what has ended', () => {
    const now = Date.parse('2026-11-30T10:00:00Z');
    expect(ended({ revoke_time: null, expire_time: null }, now)).toBeNull();
    expect(ended({ revoke_time: null, expire_time: '2026-11-30T10:00:00Z' }, now)).toBe('expired');
    expect(ended({ revoke_time: '2026-11-29T10:00:00Z', expire_time: '2027-11-30T10:00:00Z' }, now)).toBe('revoked');
  });
  it('writes actions as words', () => {
    expect(actionWords('createUser')).toBe('Create user');
    expect(actionWords('mlDeleteRun')).toBe('Delete run');
    expect(actionWords('signIn')).toBe('Sign in');
  });
});

describe('filters', () => {
  it('cannot be left by a quote', () => expect(quoted('a"b\\')).toBe('"a\\"b\\\\"'));
  it('look into several fields', () => {
    expect(containsFilter(' ada ', ['name', 'email'])).toBe('(name:"ada" OR email:"ada")');
    expect(containsFilter(' ', ['name'])).toBe('');
    expect(joinFilters('', 'a', '', 'b')).toBe('a AND b');
  });
});
