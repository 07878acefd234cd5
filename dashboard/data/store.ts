/** A value that components can watch: the least that `useSyncExternalStore` asks for. */
export interface Watchable<T> {
  read(): T;
  set(value: T): void;
  watch(listener: () => void): () => void;
}

export function createWatchable<T>(start: T): Watchable<T> {
  let current = start;
  const listeners = new Set<() => void>();
  return {
    read: () => current,
    set: (value) => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of listeners) listener();
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
