import { createMemoryStore } from '../fakes/memory-store.ts';
import { describeStore } from './store.suite.ts';

describeStore('memory store', async (clock) => {
  const store = createMemoryStore({ clock });
  return {
    store,
    corrupt: async (row, owner) => store.corrupt(row, owner.id),
    readTerminal: async (repoId, pr) => {
      const event = store.terminalOf(repoId, pr);
      return event === undefined ? undefined : { ...event };
    },
    close: async () => {},
  };
});
