// The chosen theme: "system" follows the computer, the others are fixed. Kept in this browser only.
import { useSyncExternalStore } from 'react';
import type { ResolvedTheme } from './tokens';

export type ThemeChoice = 'system' | 'light' | 'dark' | 'contrast';
export const themeChoices: readonly ThemeChoice[] = ['system', 'light', 'dark', 'contrast'];

const storageKey = 'strobe.theme';
const listeners = new Set<() => void>();
let choice: ThemeChoice = 'system';

function prefersDark(): boolean {
  return typeof matchMedia === 'function' && matchMedia('(prefers-color-scheme: dark)').matches;
}

function resolve(): ResolvedTheme {
  if (choice !== 'system') return choice;
  return prefersDark() ? 'dark' : 'light';
}

function apply(): void {
  const root = document.documentElement;
  if (choice === 'system') root.removeAttribute('data-theme');
  else root.setAttribute('data-theme', choice);
  listeners.forEach((listener) => listener());
}

// Call once before the first render.
export function initTheme(): void {
  try {
    const stored = localStorage.getItem(storageKey) as ThemeChoice | null;
    if (stored && themeChoices.includes(stored)) choice = stored;
  } catch {
    // Storage may be switched off: the page then follows the system.
  }
  if (typeof matchMedia === 'function') {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  }
  apply();
}

export function setTheme(next: ThemeChoice): void {
  choice = next;
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // As above: the choice holds until the page is left.
  }
  apply();
}

export function nextTheme(): void {
  setTheme(themeChoices[(themeChoices.indexOf(choice) + 1) % themeChoices.length]!);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, () => choice);
}

// What a canvas needs: changes when the system or the user switches, so a renderer repaints.
export function useResolvedTheme(): ResolvedTheme {
  return useSyncExternalStore(subscribe, resolve);
}
