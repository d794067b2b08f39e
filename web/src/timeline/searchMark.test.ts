import { describe, expect, it } from 'vitest';
import { SearchMark, isExpression } from './searchMark';
import { makeTile } from './testTiles';

const tile = makeTile([[[{ startPs: 0, durationPs: 10, name: 'fusion.3' }, { startPs: 20, durationPs: 10, name: 'copy.1' }]]], 12, 0);
const hit = (event: string) => ({ event, name: 'x', start_ps: 0, duration_ps: 1, line: '0.0.0' });

describe('what is searched for', () => {
  it('is an expression only when it says so', () => {
    for (const text of ['stat:flops>1e9', 'name=fusion.3', 'fusion and not line:python', 'duration>10us', '(host:a or host:b)', 'dot or fusion', 'not copy', 'duration < 5ns']) expect(isExpression(text)).toBe(true);
    for (const text of ['fusion', '/a and b/', 'all-reduce', 'Memcpy HtoD', 'for', 'and', 'name', 'a::or::b', 'jit(f)/dot_general', 'constant']) expect(isExpression(text)).toBe(false);
  });

  it('marks by name, of an expression by its hits, and by nothing when not all hits are here', () => {
    const byName = new SearchMark('fusion', []);
    expect([byName.isHit(tile, 0, '0.0.0'), byName.isHit(tile, 1, '0.0.0')]).toEqual([true, false]);
    const byHits = new SearchMark('stat:flops', [hit('0.0.0.1')]);
    expect([byHits.meansSomething, byHits.isHit(tile, 0, '0.0.0'), byHits.isHit(tile, 1, '0.0.0')]).toEqual([true, false, true]);
    expect(new SearchMark('stat:flops', [hit('0.0.0.1')], false).meansSomething).toBe(false);
  });
});
