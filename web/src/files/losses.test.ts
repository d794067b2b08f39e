import { describe, expect, it } from 'vitest';
import type { Completeness, HostCompleteness } from '../api/types';
import { asClause, hostsSentence, lossesOf, whatArrived } from './losses';

const host = (changes: Partial<HostCompleteness> = {}): HostCompleteness => ({
  host: 'host0', file: 'host0.xplane.pb', size_bytes: 2048, readable_bytes: 2048, content_hash: null, state: 'complete', window: null, clock_offset_ps: 0, events: 10, lines: 2, planes: 1,
  empty_planes: [], events_out_of_order: 0, events_beyond_window: 0, events_overlapping: 0, events_negative: 0, missing_metadata: 0, errors: [], warnings: [], damage: [], ...changes,
});
const record = (changes: Partial<Completeness> = {}): Completeness => ({ state: 'complete', reasons: [], hosts_expected: null, hosts_expected_reason: 'the profile does not say', hosts_received: 1, hosts: [host()], ...changes });

describe('losses', () => {
  it('are none for a complete session', () => expect(lossesOf(record())).toEqual([]));
  it('say what is missing, the severe ones first', () => {
    const losses = lossesOf(record({ state: 'partial', hosts: [host({ events_beyond_window: 14, readable_bytes: 1024, missing_metadata: 1, errors: ['buffer overflow.'] })] }));
    expect(losses.map((loss) => loss.text)).toEqual([
      'host0: cut off after 1.00 KiB of 2.00 KiB.',
      'host0: the profiler reported: buffer overflow.',
      'host0: 1 event has no name in the file.',
      'host0: 14 events lie outside the recorded window.',
    ]);
    expect(losses.map((loss) => loss.severe)).toEqual([true, true, true, false]);
  });
  it('count hosts that never delivered', () => {
    expect(lossesOf(record({ hosts_expected: 4 }))[0]!.text).toBe('3 hosts of 4 did not deliver a profile.');
    expect(hostsSentence(record({ hosts_expected: 4 }))).toBe('1 of 4 hosts received');
  });
  it('do not lose a reason of the server that no host explains', () => {
    expect(lossesOf(record({ state: 'partial', reasons: ['one file was replaced while it was read'] }))[0]!.text).toBe('one file was replaced while it was read.');
  });
  it('do not tell the same reason twice', () => {
    expect(lossesOf(record({ state: 'partial', reasons: ['host0: cut off after 1 of 2'], hosts: [host({ readable_bytes: 1 })] }))).toHaveLength(1);
  });
  it('a sentence of the server fits into ours', () => {
    expect(asClause('The profile does not say.')).toBe('the profile does not say');
    expect(asClause('XSpace says so')).toBe('XSpace says so');
  });
  it('an unknown count is not a zero', () => {
    expect(whatArrived(record({ hosts: [host({ events: null })] }))).toBe('Files of 1 host');
    expect(whatArrived(record())).toBe('10 events in 2 lines of 1 plane from 1 host');
  });
});
