import { describe, expect, it } from 'vitest';
import { HEADER_PX, LINE_PAD_PX, MAX_ROWS_PER_LINE, ROW_PX, counterLabel, makeLayout, moved, pinnedFromText, representativeLine, rowAt, toggledFromText, toggledToText } from './layout';
import { testHost, testLine, testPlane } from './testSession';

const none = new Set<string>();

describe('layout', () => {
  it('puts host, plane and lines below each other without a gap', () => {
    const layout = makeLayout([testHost('0', [testPlane('0.0', 3), testPlane('0.1', 2)])], none);
    expect(layout.tracks.map((track) => track.id)).toEqual(['h0', '0.0', '0.0.0', '0.0.1', '0.0.2', '0.1', '0.1.0', '0.1.1']);
    let y = 0;
    for (const track of layout.tracks) {
      expect(track.y).toBe(y);
      y += track.height;
    }
    expect(layout.heightPx).toBe(y);
    expect(layout.find('0.0.1')!.chunk).toBe('0.0.0');
    expect(layout.find('0.0.1')!.lineIndex).toBe(1);
  });

  it('gives nested lines a row each and unknown ones a single row', () => {
    const plane = { ...testPlane('0.0', 0, { event_count: null }), lines: [testLine('0.0.0', { row_count: 7 }), testLine('0.0.1', { row_count: null })] };
    const layout = makeLayout([testHost('0', [plane])], none);
    expect(layout.find('0.0.0')!.height).toBe(7 * ROW_PX + 2 * LINE_PAD_PX);
    expect(layout.find('0.0.1')!.height).toBe(ROW_PX + 2 * LINE_PAD_PX);
    expect(rowAt(layout.find('0.0.0')!, LINE_PAD_PX + 3 * ROW_PX + 1)).toBe(3);
    expect(rowAt(layout.find('0.0.0')!, 1)).toBe(-1);
  });

  it('folds lines, planes and hosts, and a folded plane shows its heaviest measured line', () => {
    const plane = {
      ...testPlane('0.0', 0, { event_count: null }),
      lines: [testLine('0.0.0', { kind: 'steps' }), testLine('0.0.1', { kind: 'ops', row_count: 3 }), testLine('0.0.2', { kind: 'ops', derived: true, event_count: 999 })],
    };
    const host = testHost('0', [plane]);
    expect(representativeLine(plane)!.id).toBe('0.0.1');
    const folded = makeLayout([host], new Set(['0.0']));
    expect(folded.tracks.map((track) => track.id)).toEqual(['h0', '0.0']);
    expect(folded.find('0.0')!.lineIndex).toBe(1);
    expect(folded.find('0.0')!.rows).toBe(1);
    expect(makeLayout([host], new Set(['h0'])).heightPx).toBe(HEADER_PX);
    expect(makeLayout([host], new Set(['0.0.1'])).find('0.0.1')!.rows).toBe(1);
  });

  it('starts with empty and metadata planes folded, and with the later of very many planes', () => {
    const planes = Array.from({ length: 60 }, (_, i) => testPlane(`0.${i}`, 2));
    const layout = makeLayout([testHost('0', [...planes, testPlane('0.60', 1, { kind: 'metadata' }), testPlane('0.61', 0, { event_count: 0 })])], none);
    expect(layout.find('0.0')!.open).toBe(true);
    expect(layout.find('0.59')!.open).toBe(false);
    expect(layout.find('0.60')!.open).toBe(false);
    expect(layout.find('0.61')!.open).toBe(false);
    expect(makeLayout([testHost('0', planes)], new Set(['0.59'])).find('0.59')!.open).toBe(true);
  });

  it('finds the track at any height among 5,000 lines', () => {
    const layout = makeLayout([testHost('0', [testPlane('0.0', 5000)])], none);
    expect(layout.tracks.length).toBe(5002);
    expect(layout.find('0.0.4999')!.chunk).toBe('0.0.78');
    for (let y = 0; y < layout.heightPx; y += 977) {
      const track = layout.tracks[layout.indexAt(y)]!;
      expect(track.y).toBeLessThanOrEqual(y);
      expect(track.y + track.height).toBeGreaterThan(y);
    }
    expect(makeLayout([], none).indexAt(5)).toBe(-1);
  });

  it('bounds the rows of one line', () => {
    const plane = { ...testPlane('0.0', 0, { event_count: null }), lines: [testLine('0.0.0', { row_count: 1e6 })] };
    expect(makeLayout([testHost('0', [plane])], none).find('0.0.0')!.rows).toBe(MAX_ROWS_PER_LINE);
  });
});

describe('names of curves', () => {
  it('have their group where there is one', () => {
    expect(counterLabel({ kind: 'counter', group: null, name: 'batch' })).toBe('batch');
    expect(counterLabel({ kind: 'counter', group: 'queue', name: 'length' })).toBe('queue length');
    expect(counterLabel({ kind: 'memory', group: '0', name: 'in use' })).toBe('Memory 0 in use');
  });
});

describe('what is folded, in the address', () => {
  it('reads back what it wrote and drops what is no id', () => {
    const ids = new Set(['0.1', 'h0', '0.2.3']);
    expect(toggledFromText(toggledToText(ids))).toEqual(ids);
    expect(toggledFromText('0.1~<script>~x~h2')).toEqual(new Set(['0.1', 'h2']));
    expect(toggledFromText('')).toEqual(new Set());
  });
});

describe('chosen tracks', () => {
  const hosts = [testHost('0', [testPlane('0.0', 2), { ...testPlane('0.1', 2, { name: '/host:CPU' }), lines: [testLine('0.1.0', { display_name: 'python' }), testLine('0.1.1', { event_count: 0 })] }, testPlane('0.2', 0, { event_count: 0 })])];
  const ids = (choice: Parameters<typeof makeLayout>[2]) => makeLayout(hosts, none, choice).tracks.map((track) => track.id);

  it('moves pinned lines to the top, in their order, and shows none twice', () => {
    const all = ids({ pinned: ['0.1.0', '0.0.1', '9.9.9'], filter: '', hideEmpty: false });
    expect(all.slice(0, 3)).toEqual(['pinned', '0.1.0', '0.0.1']);
    expect(new Set(all).size).toBe(all.length);
    expect(makeLayout(hosts, none, { pinned: ['0.1.0'], filter: '', hideEmpty: false }).find('0.1.0')!.label).toBe('python, /host:CPU');
  });

  it('keeps what fits the filter, with the process around it, and pinned lines always', () => {
    expect(ids({ pinned: [], filter: 'PYTH', hideEmpty: false })).toEqual(['h0', '0.1', '0.1.0']);
    expect(ids({ pinned: [], filter: '/tpu:0\\.0/', hideEmpty: false })).toEqual(['h0', '0.0', '0.0.0', '0.0.1']);
    expect(ids({ pinned: ['0.0.0'], filter: 'python', hideEmpty: false })).toEqual(['pinned', '0.0.0', 'h0', '0.1', '0.1.0']);
    expect(ids({ pinned: [], filter: 'nothing like it', hideEmpty: false })).toEqual([]);
  });

  it('hides lines and processes without events', () => {
    expect(ids({ pinned: [], filter: '', hideEmpty: true })).toEqual(['h0', '0.0', '0.0.0', '0.0.1', '0.1', '0.1.0']);
  });

  it('moves a pinned line by one and keeps the ends', () => {
    expect(moved(['a', 'b'], 'b', -1)).toEqual(['b', 'a']);
    expect(moved(['a', 'b'], 'a', -1)).toEqual(['a', 'b']);
    expect(pinnedFromText('0.1.2~x~0.1.2~0.1.3')).toEqual(['0.1.2', '0.1.3']);
  });
});
