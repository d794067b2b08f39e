import { describe, expect, it } from 'vitest';
import { formatDuration } from '../format/format';
import { captureState, completeness, configRows, filterText, hostCount, keyOf, labelsText, nameOfKey, parseLabels, parseRunKeys, runAddress, runDuration, sessionAddress, timeOf, wordsOf } from './runs';
import type { Run, RunSession } from './types';

const run: Run = { name: 'projects/p/locations/local/machineLearningRuns/r1', state: 'STATE_ACTIVE', etag: 'e', createTime: '2026-11-30T10:00:00Z', updateTime: '2026-11-30T10:00:00Z' };
const session = (fields: Partial<RunSession>): RunSession => ({ name: run.name + '/profilerSessions/s', state: 'SUCCEEDED', createTime: run.createTime, ...fields });

describe('filters of runs', () => {
  it('asks for nothing when nothing is wanted', () => expect(filterText({ text: ' ', state: '', group: '' })).toBe(''));
  it('joins what is wanted', () => {
    expect(filterText({ text: 'llama', state: 'FAILED', group: 'g' })).toBe('(display_name:"llama" OR run_id:"llama" OR run_set:"llama" OR gcs_path:"llama") AND state = FAILED AND run_set = "g"');
  });
  it('begins where it is told', () => {
    expect(filterText({ text: '', state: '', group: '', sinceMs: Date.parse('2026-11-30T10:00:00Z') })).toBe('create_time > "2026-11-30T10:00:00.000Z"');
  });
  it('cannot be left by a quote', () => expect(filterText({ text: '', state: '', group: 'a" OR "\\' })).toBe('run_set = "a\\" OR \\"\\\\"'));
});

describe('names', () => {
  it('leads to the page of a run and back', () => {
    expect(keyOf(run.name)).toEqual({ project: 'p', location: 'local', id: 'r1' });
    expect(runAddress({ project: 'a b', location: '-', id: 'x/y' })).toBe('/runs/a%20b/-/x%2Fy');
  });
  it('reads the runs beside one from the address', () => {
    const keys = parseRunKeys('local/a,eu/b,nonsense,/x,y/', 'p');
    expect(keys).toEqual([{ project: 'p', location: 'local', id: 'a' }, { project: 'p', location: 'eu', id: 'b' }]);
    expect(nameOfKey(keys[0]!)).toBe('projects/p/locations/local/machineLearningRuns/a');
    expect(parseRunKeys(null, 'p')).toEqual([]);
  });
  it('opens a session only below this console', () => {
    expect(sessionAddress(session({ dashboardUri: 'http://host:1/s/abc' }))).toBe('/s/abc/overview');
    expect(sessionAddress(session({ dashboardUri: 'http://host/strobe/s/a%20b?x=1' }))).toBe('/s/a%20b/overview');
    expect(sessionAddress(session({ dashboardUri: 'javascript:alert(1)' }))).toBeNull();
    expect(sessionAddress(session({ dashboardUri: 'no address' }))).toBeNull();
    expect(sessionAddress(session({}))).toBeNull();
  });
});

describe('states', () => {
  it('tells the capture from what was found of it', () => {
    expect(captureState(session({}))).toEqual({ word: 'Captured', tone: 'complete' });
    expect(captureState(session({ state: 'FAILED', completeness: 'partial' })).word).toBe('Failed');
    expect(captureState(session({ state: 'NEW_WORD' })).word).toBe('NEW_WORD');
    expect(completeness(session({ completeness: 'partial' }))).toEqual({ word: 'Partial', tone: 'partial' });
  });
  it('counts the hosts that were to deliver', () => {
    const three = { targetSessions: { a: {}, b: {}, c: {} }, hosts: ['a', 'b'] };
    expect(hostCount(session(three))).toEqual({ received: 2, expected: 3 });
    expect(hostCount(session({ hosts: ['a'] }))).toEqual({ received: 1, expected: null });
    expect(completeness(session({ ...three, completeness: 'complete' }))).toEqual({ word: '2/3 hosts', tone: 'partial' });
    expect(completeness(session({ hosts: ['a'], completeness: 'damaged' }))).toEqual({ word: 'Damaged', tone: 'damaged' });
    expect(completeness(session({}))).toBeNull();
  });
  it('reads constants as words', () => expect(wordsOf('PERFORMANCE_DEGRADATION')).toBe('Performance degradation'));
});

describe('times', () => {
  it('knows an end that was never set', () => {
    expect(timeOf('0001-01-01T00:00:00Z')).toBeNull();
    expect(timeOf('1970-01-01T00:00:00Z')).toBeNull();
    expect(timeOf('nonsense')).toBeNull();
    expect(timeOf(undefined)).toBeNull();
  });
  it('counts on while the run goes on', () => {
    const now = Date.parse('2026-11-30T13:12:30Z');
    expect(runDuration(run, now)).toBe('3 h 12 min');
    expect(runDuration({ ...run, endTime: '2026-11-30T10:00:05Z' }, now)).toBe('5 s');
    expect(runDuration(run, Date.parse('2026-11-30T09:00:00Z'))).toBe('0 ms'); // The server's clock is ahead.
  });
  it('names the two largest units', () => {
    expect(formatDuration(90_061_000)).toBe('1 d 1 h');
    expect(formatDuration(60_000)).toBe('1 min');
    expect(formatDuration(999)).toBe('999 ms');
    expect(formatDuration(null)).toBe(formatDuration(undefined));
  });
});

describe('configuration', () => {
  it('lists the parts one after the other, by name', () => {
    const rows = configRows({ ...run, configs: { userConfigs: { lr: '0.1', batch: '8' }, softwareConfigs: { jax: '0.12' } }, labels: { team: 'v' } });
    expect(rows.map((row) => `${row.section}:${row.key}=${row.value}`)).toEqual(['User:batch=8', 'User:lr=0.1', 'Software:jax=0.12', 'Label:team=v']);
    expect(configRows(run)).toEqual([]);
  });
  it('reads back the labels it shows', () => {
    const labels = { team: 'vision', note: 'a=b' };
    expect(parseLabels(labelsText(labels))).toEqual(labels);
    expect(parseLabels('')).toEqual({});
    expect(parseLabels('no sign')).toBeNull();
    expect(parseLabels('=x')).toBeNull();
  });
});
