import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it, vi } from 'vitest';
import { ErrorBoundary, isMissingPart } from './ErrorBoundary';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

function Broken(): never {
  throw new Error('rows of undefined');
}

it('shows the fault in its own place and forgets it at the next address', () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const box = document.body.appendChild(document.createElement('div'));
  const root = createRoot(box);
  act(() => root.render(<ErrorBoundary resetKey="/a"><Broken /></ErrorBoundary>));
  expect(box.textContent).toContain('rows of undefined');
  act(() => root.render(<ErrorBoundary resetKey="/b"><p>fine</p></ErrorBoundary>));
  expect(box.textContent).toBe('fine');
  act(() => root.unmount());
  box.remove();
});

it('knows a part that is gone', () => {
  expect(isMissingPart(new TypeError('Failed to fetch dynamically imported module: http://x/assets/a.js'))).toBe(true);
  expect(isMissingPart(new Error('other'))).toBe(false);
});
