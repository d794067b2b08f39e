// A modal layer: focus stays inside, Escape closes only this one, focus returns to where it was.
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { Icon } from './Icon';
import './dialog.css';

const focusable = 'a[href],button:not(:disabled),input:not(:disabled),select:not(:disabled),textarea:not(:disabled),[tabindex="0"]';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  width?: number;
  bare?: boolean; // No title bar: the content brings its own first line.
  top?: boolean; // Hangs near the top instead of the middle.
}

export function Dialog({ title, onClose, children, width = 560, bare = false, top = false }: DialogProps) {
  const panel = useRef<HTMLDivElement>(null);
  const titleId = useId();
  useKeys({ 'app.close': onClose }, { modal: true });

  useEffect(() => {
    const before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const first = panel.current?.querySelector<HTMLElement>('[data-autofocus]') ?? panel.current;
    first?.focus();
    return () => before?.focus();
  }, []);

  const keepFocus = (event: React.KeyboardEvent) => {
    if (event.key !== 'Tab' || !panel.current) return;
    const all = [...panel.current.querySelectorAll<HTMLElement>(focusable)];
    const first = all[0];
    const last = all[all.length - 1];
    if (!first || !last) return;
    if (event.shiftKey && (document.activeElement === first || document.activeElement === panel.current)) {
      event.preventDefault();
      last.focus();
    } else if (!event.shiftKey && document.activeElement === last) {
      event.preventDefault();
      first.focus();
    }
  };

  return (
    <div className={top ? 'scrim top' : 'scrim'} onMouseDown={(event) => event.target === event.currentTarget && onClose()}>
      <div
        ref={panel}
        className="dialog"
        role="dialog"
        aria-modal="true"
        aria-label={bare ? title : undefined}
        aria-labelledby={bare ? undefined : titleId}
        tabIndex={-1}
        style={{ width }}
        onKeyDown={keepFocus}
      >
        {!bare && (
          <header>
            <h1 id={titleId}>{title}</h1>
            <button type="button" className="button plain square" aria-label={`Close (${keyLabel('app.close')})`} title={`Close (${keyLabel('app.close')})`} onClick={onClose}>
              <Icon name="close" />
            </button>
          </header>
        )}
        {children}
      </div>
    </div>
  );
}
