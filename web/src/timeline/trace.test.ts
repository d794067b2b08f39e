import { describe, expect, it } from 'vitest';
import type { LineInfo } from './model';
import { testHost, testLine, testPlane } from './testSession';
import { recordedSpan, wholeSpan } from './trace';

const answer = (lines: readonly Partial<LineInfo>[], window = { start_ps: 0, end_ps: 1000 }) => ({
  version: 'v', complete: true, window, hosts: [testHost('0', [{ ...testPlane('0.0', 0), lines: lines.map((line, i) => testLine(`0.0.${i}`, line)) }])],
});

describe('how far a session reaches', () => {
  it('is the window where all events lie in it', () => {
    expect(wholeSpan(answer([{ start_ps: 100, end_ps: 900 }]))).toEqual({ startPs: 0, endPs: 1000 });
    expect(wholeSpan(answer([]))).toEqual({ startPs: 0, endPs: 1000 });
  });

  it('takes in events before and after the window', () => {
    const beyond = answer([{ start_ps: 100, end_ps: 5000 }, { start_ps: -300, end_ps: 20 }]);
    expect(wholeSpan(beyond)).toEqual({ startPs: -300, endPs: 5000 });
    expect(recordedSpan(beyond)).toEqual({ startPs: 0, endPs: 1000 });
  });

  it('is not stretched by lines that are not decoded, hold nothing or have times beyond what can be told exactly', () => {
    expect(wholeSpan(answer([
      { start_ps: null, end_ps: null, event_count: null }, { start_ps: -7, end_ps: 7000, event_count: 0 }, { start_ps: 5, end_ps: 2 ** 62 },
    ]))).toEqual({ startPs: 0, endPs: 1000 });
  });

  it('is never empty', () => expect(wholeSpan(answer([], { start_ps: 0, end_ps: 0 }))).toEqual({ startPs: 0, endPs: 1 }));
});
