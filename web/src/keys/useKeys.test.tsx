import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type KeyHandlers, useKeys } from './useKeys';

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

function Layer({ handlers, modal = false }: { handlers: KeyHandlers; modal?: boolean }) {
  useKeys(handlers, { modal });
  return null;
}

const press = (key: string, target: EventTarget = window, more: KeyboardEventInit = {}) => {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
  target.dispatchEvent(event);
  return event;
};

describe('layers of keys', () => {
  it('gives Escape to the topmost layer only', () => {
    const low = vi.fn();
    const high = vi.fn();
    act(() => root.render(<><Layer handlers={{ 'app.close': low }} /><Layer handlers={{ 'app.close': high }} modal /></>));
    expect(press('Escape').defaultPrevented).toBe(true);
    expect(high).toHaveBeenCalledTimes(1);
    expect(low).not.toHaveBeenCalled();
    act(() => root.render(<Layer handlers={{ 'app.close': low }} />));
    press('Escape');
    expect(low).toHaveBeenCalledTimes(1);
  });
  it('keeps keys of the page from acting under a dialog', () => {
    const next = vi.fn();
    act(() => root.render(<><Layer handlers={{ 'list.next': next }} /><Layer handlers={{}} modal /></>));
    press('j');
    expect(next).not.toHaveBeenCalled();
  });
  it('leaves typing alone, but not Ctrl combinations', () => {
    const next = vi.fn();
    const search = vi.fn();
    act(() => root.render(<><Layer handlers={{ 'list.next': next, 'app.search': search }} /><input id="field" /></>));
    const field = document.getElementById('field')!;
    press('j', field);
    press('k', field, { ctrlKey: true });
    expect(next).not.toHaveBeenCalled();
    expect(search).toHaveBeenCalledTimes(1);
  });
  it('passes a key on that a handler does not want', () => {
    const low = vi.fn();
    act(() => root.render(<><Layer handlers={{ 'list.open': low }} /><Layer handlers={{ 'list.open': () => false }} /></>));
    press('Enter');
    expect(low).toHaveBeenCalledTimes(1);
  });
});
