import { describe, expect, it } from 'vitest';
import { MAX_MARKS, marksFromText, marksToText, shortModule, withMark } from './marks';

describe('marks', () => {
  it('come back from the address as they were put in', () => {
    const marks = withMark(withMark([], { atPs: 40_000_000_000, note: 'a: b, c' }), { atPs: 1, note: '' });
    expect(marks.map((mark) => mark.atPs)).toEqual([1, 40_000_000_000]);
    expect(marksFromText(marksToText(marks))).toEqual(marks);
  });

  it('ignore what is no time, and keep to their number', () => {
    expect(marksFromText('')).toEqual([]);
    expect(marksFromText('x~5ns:why')).toEqual([{ atPs: 5000, note: 'why' }]);
    const many = Array.from({ length: 80 }, (_, i) => `${i}ns`).join('~');
    expect(marksFromText(many)).toHaveLength(MAX_MARKS);
  });

  it('have one note a moment, without the separator', () => {
    const marks = withMark(withMark([], { atPs: 7, note: 'old' }), { atPs: 7, note: 'new~er' });
    expect(marks).toEqual([{ atPs: 7, note: 'new er' }]);
  });
});

describe('programs', () => {
  it('are a name and four hex digits', () => {
    expect(shortModule('jit_step(7716253410928341207)')).toBe('jit_step b0d7');
    expect(shortModule('jit_step')).toBe('jit_step');
    expect(shortModule('odd(name)(16)')).toBe('odd(name) 0010');
  });
});
