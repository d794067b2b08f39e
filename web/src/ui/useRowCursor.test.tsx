import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LoadPage, type Pages, usePages } from './pages';
import { type RowCursor, useRowCursor } from './useRowCursor';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const PAGE = 10;
let root: Root;
let list: Pages<string>;
let cursor: RowCursor;
let total: number;
let asked: string[];
let revealed: number[];
let answer: (() => Promise<void>) | null; // null: at once
let fails: boolean;

const load: LoadPage<string> = async (token) => {
  asked.push(token);
  await answer?.();
  if (fails && token !== '') throw new Error('gone');
  const from = Number(token || 0);
  const items = Array.from({ length: Math.min(PAGE, total - from) }, (_, i) => `row ${from + i}`);
  return { items, next: from + PAGE < total ? String(from + PAGE) : null };
};

function Probe() {
  list = usePages('rows', load, (item) => item);
  cursor = useRowCursor(list.items.length, () => undefined, true, (index) => revealed.push(index), {
    hasMore: list.hasMore, loading: list.loading, failed: list.error !== null, more: list.more, perScreen: () => 8,
  });
  return null;
}

const press = (key: string) => act(async () => void window.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })));
const settle = () => act(async () => new Promise<void>((done) => void setTimeout(done, 20)));

beforeEach(async () => {
  total = 95;
  asked = [];
  revealed = [];
  answer = null;
  fails = false;
  root = createRoot(document.createElement('div'));
  await act(async () => root.render(<Probe />));
  await settle();
});
afterEach(() => act(() => root.unmount()));

describe('a cursor over a list that comes page by page', () => {
  it('goes on to the last row of all at End, a page after the other', async () => {
    expect(list.items.length).toBe(PAGE);
    await press('End');
    await settle();
    expect(list.items.length).toBe(95);
    expect([cursor.index, cursor.goal, revealed.at(-1)]).toEqual([94, null, 94]);
    expect(asked).toEqual(['', ...Array.from({ length: 9 }, (_, i) => String((i + 1) * PAGE))]);
  });

  it('goes a screen further at PageDown, and asks for no more than that needs', async () => {
    await press('PageDown');
    expect([cursor.index, list.items.length]).toEqual([7, PAGE]);
    await press('PageDown');
    await settle();
    expect([cursor.index, list.items.length, cursor.goal]).toEqual([14, 2 * PAGE, null]);
    await press('PageUp');
    expect(cursor.index).toBe(7);
  });

  it('says where it is going, and gives it up for another key', async () => {
    const waiting: (() => void)[] = [];
    answer = () => new Promise((done) => waiting.push(done));
    await press('End');
    expect([cursor.goal, cursor.index]).toEqual([Infinity, PAGE - 1]);
    await act(async () => waiting.shift()!());
    expect(cursor.goal).toBe(Infinity);
    await press('Home');
    expect([cursor.goal, cursor.index]).toEqual([null, 0]);
    await act(async () => waiting.shift()!());
    expect(asked.length).toBe(3);
    expect([list.items.length, cursor.index]).toEqual([3 * PAGE, 0]);
  });

  it('stays at the last row that came when the server fails', async () => {
    fails = true;
    await press('End');
    await settle();
    expect([cursor.index, cursor.goal, asked.length]).toEqual([PAGE - 1, null, 2]);
  });
});
