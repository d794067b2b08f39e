import { describe, expect, it } from 'vitest';
import { loadPages, noPages, type PageOf, takeFirstPage } from './pages';

const signal = new AbortController().signal;
const keyOf = (item: { id: number }) => String(item.id);
const item = (id: number, text = '') => ({ id, text });

// Three rows a page out of `all`.
const serve = (all: readonly { id: number; text: string }[], asked: string[] = []) => async (token: string): Promise<PageOf<{ id: number; text: string }>> => {
  asked.push(token);
  const from = Number(token || 0);
  return { items: all.slice(from, from + 3), next: from + 3 < all.length ? String(from + 3) : null };
};

describe('pages of a list', () => {
  it('are asked one after the other, and no more than there are', async () => {
    const asked: string[] = [];
    const state = await loadPages(9, serve([1, 2, 3, 4, 5, 6, 7].map((id) => item(id)), asked), signal);
    expect(asked).toEqual(['', '3', '6']);
    expect(state.items.map(keyOf)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect(state).toMatchObject({ next: null, pages: 3 });
  });
  it('stop where enough is shown', async () => {
    const state = await loadPages(2, serve([1, 2, 3, 4, 5, 6, 7].map((id) => item(id))), signal);
    expect(state).toMatchObject({ next: '6', pages: 2 });
  });
});

describe('a first page that was asked for again', () => {
  const shown = { items: [item(1), item(2), item(3), item(4)], next: '6', pages: 2 };
  it('is all of a list that shows one page', () => {
    expect(takeFirstPage(noPages, { items: [item(5)], next: 'x' }, keyOf)).toEqual({ items: [item(5)], next: 'x', pages: 1 });
  });
  it('changes what stands in its rows and leaves the rest', () => {
    const now = takeFirstPage(shown, { items: [item(1), item(2, 'new'), item(3)], next: '3' }, keyOf);
    expect(now).toEqual({ items: [item(1), item(2, 'new'), item(3), item(4)], next: '6', pages: 2 });
  });
  it('is not enough when a row came or went', () => {
    expect(takeFirstPage(shown, { items: [item(0), item(1), item(2)], next: '3' }, keyOf)).toBeNull();
    expect(takeFirstPage(shown, { items: [item(1), item(3)], next: '3' }, keyOf)).toBeNull();
    expect(takeFirstPage(shown, { items: [item(1), item(2), item(3)], next: null }, keyOf)).toBeNull();
  });
});
