import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../api/client';
import { type LoadPage, type Pages, usePages } from './pages';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let root: Root;
let list: Pages<string>;
let all: string[];
let asked: string[];

// Two rows a page out of `all`.
const load: LoadPage<string> = async (token) => {
  asked.push(token);
  const from = Number(token || 0);
  return { items: all.slice(from, from + 2), next: from + 2 < all.length ? String(from + 2) : null };
};

function Probe({ name, loader = load }: { name: string | null; loader?: LoadPage<string> }) {
  list = usePages(name, loader, (item) => item, { everyMs: 1000 });
  return null;
}

const show = (name: string | null, loader?: LoadPage<string>) => act(async () => root.render(<Probe name={name} loader={loader} />));
const pass = (ms: number) => act(async () => vi.advanceTimersByTimeAsync(ms));

beforeEach(() => {
  vi.useFakeTimers();
  root = createRoot(document.createElement('div'));
  all = ['a', 'b', 'c', 'd', 'e'];
  asked = [];
});
afterEach(() => {
  act(() => root.unmount());
  vi.useRealTimers();
});

describe('a list by pages', () => {
  it('begins with the first page and takes the next when asked', async () => {
    await show('x');
    expect(list).toMatchObject({ items: ['a', 'b'], hasMore: true, known: true, error: null });
    await act(async () => list.more());
    await act(async () => list.more());
    expect(list).toMatchObject({ items: ['a', 'b', 'c', 'd', 'e'], hasMore: false });
    await act(async () => list.more());
    expect(asked).toEqual(['', '2', '4']);
  });
  it('looks at the first page again and leaves the others as they are', async () => {
    await show('x');
    await act(async () => list.more());
    await pass(1100);
    expect(asked).toEqual(['', '2', '']);
    expect(list.items).toEqual(['a', 'b', 'c', 'd']);
  });
  it('asks for all that is shown when a row came', async () => {
    await show('x');
    await act(async () => list.more());
    all = ['new', ...all];
    await pass(1100);
    expect(list.items).toEqual(['new', 'a', 'b', 'c']);
  });
  it('shows nothing of another question', async () => {
    await show('x');
    all = ['z'];
    await show('y');
    expect(list.items).toEqual(['z']);
    await show(null);
    expect(list).toMatchObject({ items: [], known: false, loading: false });
  });
  it('keeps what it has when a refresh fails, and says so', async () => {
    await show('x');
    const failing: LoadPage<string> = () => Promise.reject(new ApiError(500, { code: 'INTERNAL', name: 'BROKEN', message: 'broken' }));
    await show('x', failing);
    await pass(1100);
    expect(list.items).toEqual(['a', 'b']);
    expect(list.error?.body.name).toBe('BROKEN');
    await show('x', load);
    await pass(1100);
    expect(list.error).toBeNull();
  });
});
