// State that panels show, outside React. Set replaces fields; listeners run once per change; nothing else.
//
//   const value = useStore(store, (state) => state.selection);

import { useSyncExternalStore } from 'react';

export class Store<T extends object> {
  private readonly listeners = new Set<() => void>();

  constructor(private state: T) {}

  get(): T {
    return this.state;
  }

  set(changes: Partial<T>): void {
    let changed = false;
    for (const key of Object.keys(changes) as (keyof T)[]) {
      if (!Object.is(this.state[key], changes[key])) changed = true;
    }
    if (!changed) return;
    this.state = { ...this.state, ...changes };
    for (const listener of this.listeners) listener();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export function useStore<T extends object, R>(store: Store<T>, select: (state: T) => R): R {
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
