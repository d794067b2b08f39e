import { describe, expect, it } from 'vitest';
import { arrowsOf } from './flowArrows';
import { HEADER_PX, barTop, BAR_PX, makeLayout } from './layout';
import { testHost, testPlane } from './testSession';
import { makeView } from './view';

const hosts = [testHost('0', [testPlane('0.0', 2), testPlane('0.1', 1)])];
const end = (line: string, startPs: number) => ({ event: `${line}.0`, line, row: 0, start_ps: startPs, duration_ps: 100, name: 'x' });
const place = (toggled: string[], view = makeView(0, 10_000)) =>
  ({ layout: makeLayout(hosts, new Set(toggled)), view, widthPx: 1000, heightPx: 400, scrollPx: 0 });

describe('flow arrows', () => {
  it('go from the middle of the cause to the start of the effect', () => {
    const [arrow] = arrowsOf([{ from: end('0.0.0', 1000), to: end('0.1.0', 5000) }], place([]));
    expect(arrow!.x0).toBe(105);
    expect(arrow!.x1).toBe(500);
    expect(arrow!.y0).toBe(2 * HEADER_PX + barTop(0) + BAR_PX / 2);
    expect(arrow!.y1).toBeGreaterThan(arrow!.y0);
  });

  it('land on the folded plane that hides the line', () => {
    const folded = place(['0.0']);
    const [arrow] = arrowsOf([{ from: end('0.0.1', 1000), to: end('0.1.0', 5000) }], folded);
    expect(arrow!.y0).toBe(folded.layout.find('0.0')!.y + barTop(0) + BAR_PX / 2);
  });

  it('are left out when both ends are beyond one side', () => {
    expect(arrowsOf([{ from: end('0.0.0', 1000), to: end('0.1.0', 5000) }], place([], makeView(6000, 1000)))).toEqual([]);
    expect(arrowsOf([{ from: end('0.0.0', 1000), to: end('0.1.0', 5000) }], place([], makeView(2000, 1000)))).toHaveLength(1);
    expect(arrowsOf([{ from: end('9.0.0', 1000), to: end('0.1.0', 5000) }], place([]))).toEqual([]);
  });

  it('tell those that go from host to host', () => {
    const two = makeLayout([hosts[0]!, testHost('1', [testPlane('1.0', 1)])], new Set());
    const flows = [{ from: end('0.0.0', 1000), to: end('1.0.0', 5000) }, { from: end('0.0.0', 1000), to: end('0.1.0', 5000) }];
    expect(arrowsOf(flows, { ...place([]), layout: two }).map((arrow) => arrow.crossesHosts)).toEqual([true, false]);
  });
});
