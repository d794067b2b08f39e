import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../api/client';
import type { Pages } from '../ui/pages';
import { AccessTable } from './AccessTable';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let box: HTMLElement;
let root: Root;
beforeEach(() => {
  box = document.body.appendChild(document.createElement('div'));
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

const pages = (fields: Partial<Pages<string>>): Pages<string> => ({ items: [], hasMore: false, known: true, loading: false, error: null, more: vi.fn(), reload: vi.fn(), ...fields });
const show = (list: Pages<string>) => act(() => root.render(<AccessTable label="Users" list={list} keyOf={(item) => item} empty="Nobody yet. Add a user." columns={[{ label: 'User', cell: (item) => item }, { label: '', cell: () => <button type="button">Delete</button> }]} />));
const error = (status: number) => new ApiError(status, { code: 'X', name: 'NAME_OF_IT', message: 'What happened.', hint: 'What to do.', request_id: 'r-17' });

describe('the states of a list', () => {
  it('shows its form while it comes', () => {
    show(pages({ known: false, loading: true }));
    expect(box.querySelectorAll('tr[aria-hidden=true]').length).toBeGreaterThan(0);
    expect(box.textContent).not.toContain('Nobody yet');
  });
  it('says why it is empty and what to do', () => {
    show(pages({}));
    expect(box.textContent).toContain('Nobody yet. Add a user.');
  });
  it('says what failed, with the request, and tries again', () => {
    const list = pages({ known: false, error: error(500) });
    show(list);
    expect(box.querySelector('[role=alert]')?.textContent).toMatch(/Users could not be listed\. What happened\.[\s\S]*NAME_OF_IT[\s\S]*r-17/);
    expect(box.querySelector('table')).toBeNull();
    act(() => [...box.querySelectorAll('button')].find((one) => one.textContent?.includes('Retry'))!.click());
    expect(list.reload).toHaveBeenCalledOnce();
  });
  it('keeps what it showed when a refresh fails', () => {
    show(pages({ items: ['ada'], error: error(500) }));
    expect(box.querySelector('tbody')?.textContent).toContain('ada');
    expect(box.querySelector('[role=alert]')).not.toBeNull();
  });
  it('says that it is not for one, and whom to ask', () => {
    show(pages({ known: false, error: error(403) }));
    expect(box.textContent).toContain('This list is not for you.');
    expect(box.textContent).toContain('What to do.');
    expect(box.querySelector('[role=alert]')).toBeNull();
  });
  it('leaves a lost connection to the banner', () => {
    show(pages({ items: ['ada'], error: error(0) }));
    expect(box.querySelector('[role=alert]')).toBeNull();
  });
  it('asks for more where there is more', () => {
    const list = pages({ items: ['ada'], hasMore: true });
    show(list);
    act(() => [...box.querySelectorAll('button')].find((one) => one.textContent === 'Show more')!.click());
    expect(list.more).toHaveBeenCalledOnce();
  });
});
