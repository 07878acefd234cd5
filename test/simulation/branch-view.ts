import { DEFAULT_SERVICE_NAME, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import type { JournalEntry } from '../fakes/abstract-forge/world.ts';

/** The same forge as those see it who are at work on another branch than its first. */
export function viewOfBranch(forge: AbstractForge, base: string): AbstractForge {
  const seen: JournalEntry[] = [];
  const journal = () => {
    for (const entry of forge.journal().slice(seen.length)) seen.push(entryOfBranch(entry, base));
    return seen;
  };
  const own: Partial<AbstractForge> = {
    base,
    tipOfBase: () => forge.tipOfBase(base),
    pushToBase: (files) => forge.pushToBase(files, base),
    setProtection: (rule, branch = base) => forge.setProtection(rule, branch),
    openPullRequest: (pull) => forge.openPullRequest({ base, ...pull }),
    merges: () => journal().flatMap((entry) => (entry.kind === 'merge' ? [entry.merge] : [])),
    journal,
  };
  return new Proxy(forge, {
    get: (target, name) => Reflect.get(name in own ? own : target, name),
    set(target, name, value) {
      if (name !== 'judge') return Reflect.set(target, name, value);
      const others = target.judge;
      target.judge = (files, run) =>
        run.branch.startsWith(`${stagingPrefix(DEFAULT_SERVICE_NAME)}${base}/`)
          ? (value as AbstractForge['judge'])(files, run)
          : others(files, run);
      return true;
    },
  });
}

/** An entry of the journal of a forge whose first branch is another one. */
export function entryOfBranch(entry: JournalEntry, base: string): JournalEntry {
  if (entry.kind === 'merge') return { ...entry, kind: 'merge_elsewhere', base: 'main' };
  if (entry.kind !== 'merge_elsewhere' || entry.base !== base) return entry;
  const { at, merge } = entry;
  return { kind: 'merge', at, merge };
}
