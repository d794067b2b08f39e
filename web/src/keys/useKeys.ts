// Binds actions of the key table to handlers while a component is mounted.
//
//   useKeys({ 'list.next': () => move(1), 'list.open': open });
//
// The binding mounted last wins, so a dialog's Escape closes the dialog and nothing below it. A handler that returns false
// passes the key on. Single keys do nothing while a text field has the focus (Escape and Ctrl combinations still do).
import { useEffect, useRef } from 'react';
import { KeyMatcher, type KeyId } from './table';

export type KeyHandlers = Partial<Record<KeyId, (event: KeyboardEvent) => void | boolean>>;

interface Binding {
  handlers: () => KeyHandlers;
  modal: boolean; // Hides every binding below it, except Ctrl combinations nobody should lose.
}

const stack: Binding[] = [];
let matcher: KeyMatcher | null = null;

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

// Enter and Space on a button or link belong to it.
function activates(event: KeyboardEvent): boolean {
  if (event.key !== 'Enter' && event.key !== ' ') return false;
  return event.target instanceof HTMLElement && event.target.closest('a,button,summary') !== null;
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const modified = event.ctrlKey || event.metaKey;
  if (typing(event.target) && !modified && event.key !== 'Escape') return;
  if (activates(event)) return;
  matcher ??= new KeyMatcher();
  const ids = matcher.match(event);
  for (let i = stack.length - 1; i >= 0; i--) {
    const handlers = stack[i]!.handlers();
    for (const id of ids) {
      const handler = handlers[id];
      if (handler && handler(event) !== false) {
        event.preventDefault();
        return;
      }
    }
    if (stack[i]!.modal) return;
  }
}

export function useKeys(handlers: KeyHandlers, options: { modal?: boolean; active?: boolean } = {}): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  const modal = options.modal ?? false;
  const active = options.active ?? true;
  useEffect(() => {
    if (!active) return;
    const binding: Binding = { handlers: () => latest.current, modal };
    if (stack.length === 0) window.addEventListener('keydown', onKeyDown);
    stack.push(binding);
    return () => {
      stack.splice(stack.indexOf(binding), 1);
      if (stack.length === 0) window.removeEventListener('keydown', onKeyDown);
    };
  }, [modal, active]);
}
