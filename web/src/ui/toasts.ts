// Short messages that outlive the page that caused them.
import { useSyncExternalStore } from 'react';
import type { IconName } from './Icon';
import { saveFile } from './saveFile';

export interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad' | 'plain';
  readonly icon: IconName;
  readonly text: string;
  readonly link?: { readonly to: string; readonly text: string };
}

const shownMs = 8000;
const mostShown = 4; // More would cover the page; the oldest goes first.
let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function publish(next: readonly Toast[]): void {
  toasts = next;
  listeners.forEach((listener) => listener());
}

export function dismissToast(id: number): void {
  publish(toasts.filter((toast) => toast.id !== id));
}

// A toast with a link stays until it is used or closed.
export function showToast(toast: Omit<Toast, 'id'>): void {
  const id = nextId++;
  publish([...toasts, { ...toast, id }].slice(-mostShown));
  if (!toast.link) setTimeout(() => dismissToast(id), shownMs);
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
}

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ tone: 'plain', icon: 'copy', text: `${what} copied.` });
  } catch {
    showToast({ tone: 'bad', icon: 'damaged', text: `The browser did not allow copying. ${what}: ${text}` });
  }
}

// A text too long for a message: where the browser does not allow copying it becomes a file.
export async function copyLong(text: string, what: string, file: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ tone: 'plain', icon: 'copy', text: `${what} copied.` });
  } catch {
    saveFile(file, text, 'text/markdown');
    showToast({ tone: 'plain', icon: 'download', text: `The browser did not allow copying. ${what} saved as ${file}.` });
  }
}
