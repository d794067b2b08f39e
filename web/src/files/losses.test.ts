import { describe, expect, it } from 'vitest';
import type { Completeness, HostCompleteness } from '../api/types';
import { asClause, hostsSentence, lossesOf, sizeSentence, whatArrived } from './losses';

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
      'host0: 14 events lie more than a second outside the recorded window.',
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
  it('say each kind of odd event once, though the server gives it as a reason too', () => {
    const odd = host({ events_overlapping: 40, events_out_of_order: 1, events_beyond_window: 1200, events_negative: 2, events_saturated: 3, missing_metadata: 5, warnings: ['dropped.'] });
    const reasons = [
      'host0: the profiler reports a warning: dropped.',
      'host0: 3 events outside the range of time, clamped to 53 days.',
      'host0: 2 events with a negative duration, taken as 0.',
      'host0: 1,200 events more than a second outside the window that the profiler recorded.',
      'host0: 40 events on lines where events can only follow or nest, but that begin inside another and outlive it.',
      'host0: 5 events without a name: the profile has no entry for their id.',
      'host0: 1 event written out of order, sorted here.',
    ];
    expect(lossesOf(record({ reasons, hosts: [odd] })).map((loss) => loss.text)).toEqual([
      'host0: 5 events have no name in the file.',
      'host0: 3 events have times beyond what can be counted and were cut.',
      'host0: 1,200 events lie more than a second outside the recorded window.',
      'host0: 40 events begin inside another event and outlive it, on lines where events can only follow or nest.',
      'host0: 2 events begin before time zero or have a negative length.',
      'host0: 1 event was stored out of order and has been sorted.',
      'host0: the profiler warned: dropped.',
    ]);
  });
  it('keep what only the server tells of a host that has lost something too', () => {
    const reasons = ['host0: 7 events nested deeper than is shown.', 'host0: 40 events on lines where events can only follow or nest, but that begin inside another and outlive it.'];
    expect(lossesOf(record({ reasons, hosts: [host({ missing_metadata: 1 })] })).map((loss) => loss.text)).toEqual(['host0: 1 event has no name in the file.', ...reasons]);
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

describe('the size', () => {
  const damage = [{ name: 'COMPRESS_CORRUPT', message: 'The compressed data make no sense from here on.', offset_bytes: 9000, plane: null, line: null }];
  it('says that all can be read only when every file is whole', () => {
    expect(sizeSentence(record({ hosts: [host(), host({ host: 'host1' })] }))).toBe('4.00 KiB, all readable');
    // Of a packed file more bytes can be unpacked before the damage than it is long.
    expect(sizeSentence(record({ state: 'partial', hosts: [host({ state: 'partial', readable_bytes: 9000, damage })] }))).toBe('2.00 KiB, partial');
    expect(sizeSentence(record({ state: 'partial', hosts: [host({ readable_bytes: 9000 }), host({ state: 'damaged', readable_bytes: 0, damage })] }))).toBe(
      '2.00 KiB of 4.00 KiB readable, 1 of 2 files damaged',
    );
    expect(sizeSentence(record({ state: 'partial', hosts: [host({ readable_bytes: 1024 })] }))).toBe('1.00 KiB of 2.00 KiB readable, partial');
    expect(sizeSentence(record({ state: 'partial', hosts: [host({ state: 'partial', errors: ['lost events'] })] }))).toBe('2.00 KiB, partial');
  });
  it('says which files are still to come', () => {
    expect(sizeSentence(record({ state: 'writing', hosts: [host(), host({ state: 'writing', readable_bytes: 0 })] }))).toBe('2.00 KiB of 4.00 KiB readable, 1 of 2 files still being written');
    expect(lossesOf(record({ state: 'writing', hosts: [host({ state: 'writing', readable_bytes: 0 })] })).map((loss) => loss.text)).toEqual(['host0: still being written.']);
    expect(sizeSentence(record({ state: 'writing' }))).toBe('2.00 KiB');
    expect(sizeSentence(record({ state: 'empty', hosts: [] }))).toBe('no file');
  });
});
