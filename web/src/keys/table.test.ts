import { describe, expect, it } from 'vitest';
import { KeyMatcher, type KeyStroke, keyTable, sequencePauseMs, showKey } from './table';

const stroke = (key: string, more: Partial<KeyStroke> = {}): KeyStroke => ({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });

describe('the key table', () => {
  it('has unique ids and a label for each', () => {
    expect(new Set(keyTable.map((entry) => entry.id)).size).toBe(keyTable.length);
    for (const entry of keyTable) expect(entry.label.length).toBeGreaterThan(2);
  });
  it('gives no stroke two meanings where both are live', () => {
    for (const scope of ['list', 'graph', 'timeline'] as const) {
      const seen = new Map<string, string>();
      for (const entry of keyTable.filter((one) => one.scope === scope || one.scope === 'global')) {
        for (const key of entry.keys) {
          expect(seen.get(key), `${key}: ${entry.id}`).toBeUndefined();
          seen.set(key, entry.id);
        }
      }
    }
  });
  it('has no single key that begins a sequence', () => {
    const firsts = new Set<string>(keyTable.flatMap((entry) => entry.keys).filter((key: string) => key.includes(' ')).map((key: string) => key.split(' ')[0]!));
    for (const entry of keyTable) for (const key of entry.keys) expect(firsts.has(key)).toBe(false);
  });
});

describe('matching', () => {
  it('matches plain keys and typed characters', () => {
    const matcher = new KeyMatcher(() => 0, false);
    expect(matcher.match(stroke('?', { shiftKey: true }))).toEqual(['app.help']);
    expect(matcher.match(stroke('j'))).toEqual(['list.next']);
    expect(matcher.match(stroke('ArrowDown'))).toEqual(['list.next', 'timeline.next_track']);
    expect(matcher.match(stroke('q'))).toEqual([]);
  });
  it('tells Ctrl from Cmd', () => {
    const pc = new KeyMatcher(() => 0, false);
    expect(pc.match(stroke('k', { ctrlKey: true }))).toEqual(['app.search']);
    expect(pc.match(stroke('k', { metaKey: true }))).toEqual([]);
    expect(pc.match(stroke('C', { ctrlKey: true, shiftKey: true }))).toEqual(['app.capture']);
    expect(pc.match(stroke('c', { ctrlKey: true }))).toEqual([]);
    const mac = new KeyMatcher(() => 0, true);
    expect(mac.match(stroke('k', { metaKey: true }))).toEqual(['app.search']);
  });
  it('follows a sequence, and forgets it after a pause or a wrong key', () => {
    let now = 0;
    const matcher = new KeyMatcher(() => now, false);
    expect(matcher.match(stroke('g'))).toEqual([]);
    expect(matcher.match(stroke('t'))).toEqual(['go.timeline']);
    matcher.match(stroke('g'));
    now = sequencePauseMs + 1;
    expect(matcher.match(stroke('o'))).toEqual([]);
    matcher.match(stroke('g'));
    expect(matcher.match(stroke('j'))).toEqual(['list.next']);
  });
});

describe('showing', () => {
  it('writes keys the way keyboards do', () => {
    expect(showKey('Mod+Shift+c', false)).toBe('Ctrl Shift C');
    expect(showKey('Mod+k', true)).toBe('Cmd K');
    expect(showKey('g t', false)).toBe('g t');
    expect(showKey('Escape', false)).toBe('Esc');
  });
});
