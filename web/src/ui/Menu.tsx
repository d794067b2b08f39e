// A button that opens a list of choices below itself. Arrows move, Enter takes, Escape closes and gives the focus back.
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { useKeys } from '../keys/useKeys';
import './dialog.css';

interface MenuProps {
  label: string;
  button: ReactNode;
  className?: string;
  title?: string;
  align?: 'left' | 'right';
  onOpen?: () => void;
  children: (close: () => void) => ReactNode;
}

export function Menu({ label, button, className = 'button plain', title, align = 'left', onOpen, children }: MenuProps) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    anchor.current?.focus();
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        title={title ?? label}
        onClick={() => {
          if (!open) onOpen?.();
          setOpen(!open);
        }}
      >
        {button}
      </button>
      {open && anchor.current && (
        <MenuPanel anchor={anchor.current} align={align} label={label} onClose={close} onLeave={() => setOpen(false)}>
          {children(close)}
        </MenuPanel>
      )}
    </>
  );
}

interface PanelProps {
  anchor: HTMLElement;
  align: 'left' | 'right';
  label: string;
  onClose: () => void;
  onLeave: () => void;
  children: ReactNode;
}

function MenuPanel({ anchor, align, label, onClose, onLeave, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  const move = (to: 1 | -1 | 'first' | 'last') => {
    const items = [...(panel.current?.querySelectorAll<HTMLElement>('.menu-item') ?? [])];
    if (items.length === 0) return;
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = to === 'first' ? 0 : to === 'last' ? items.length - 1 : (at + to + items.length) % items.length;
    items[next]!.focus();
  };
  useKeys({
    'app.close': onClose,
    'list.next': () => move(1),
    'list.previous': () => move(-1),
    'list.first': () => move('first'),
    'list.last': () => move('last'),
  });
  useLayoutEffect(() => {
    const box = anchor.getBoundingClientRect();
    const style = panel.current!.style;
    style.top = `${box.bottom + 4}px`;
    if (align === 'left') style.left = `${Math.min(box.left, window.innerWidth - panel.current!.offsetWidth - 8)}px`;
    else style.right = `${window.innerWidth - box.right}px`;
  }, [anchor, align]);
  useEffect(() => {
    (panel.current?.querySelector<HTMLElement>('[aria-checked="true"]') ?? panel.current?.querySelector<HTMLElement>('.menu-item'))?.focus();
    const leave = (event: PointerEvent) => {
      const target = event.target as Node;
      if (!panel.current?.contains(target) && !anchor.contains(target)) onLeave();
    };
    document.addEventListener('pointerdown', leave);
    return () => document.removeEventListener('pointerdown', leave);
  }, [anchor, onLeave]);
  return createPortal(
    <div ref={panel} className="menu" role="menu" aria-label={label}>
      {children}
    </div>,
    document.body,
  );
}
