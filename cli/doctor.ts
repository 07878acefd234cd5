import type { ResultOf } from '#core/contracts/client.ts';
import { findBlocker } from '../dashboard/view/blocker.ts';
import { listSteps } from '../dashboard/view/provisioning.ts';
import { type Asked, EXIT, emit } from './asked.ts';
import { readRemoteSlug } from './context.ts';
import { plain } from './values.ts';
import { sayBlocker } from './watch.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly says: string;
}

type Entry = ResultOf<'readQueueStatus'>['repos'][number];

/** The way from this terminal to each queue, step by step. A service that refuses or is away ends it with its own error. */
export async function doctor(asked: Asked, url: string): Promise<number> {
  const { api, machine } = asked;
  const [{ repos }, activity] = [await api.readQueueStatus(), await api.readActivity()];
  const slug = readRemoteSlug(machine.cwd);
  const queues = repos.flatMap((entry) => {
    const mine = activity.repos.find(({ repo_id }) => repo_id === entry.id);
    const blocker = mine === undefined ? null : findBlocker(mine, entry, machine.now());
    const name = `${entry.name} ${entry.base_branch}`;
    return [
      ...checkSetUp(name, entry),
      ...(mine?.drifts ?? []).map(({ kind, says, next }) => ({
        check: `${name}: ${kind.replaceAll('_', ' ')}`,
        ok: false,
        says: plain(`${says}. ${next}`),
      })),
      {
        check: `${name}: queue`,
        ok: blocker !== null && blocker.tone !== 'stop' && blocker.tone !== 'unknown',
        says: blocker === null ? 'not known' : plain(sayBlocker(blocker, machine.now())),
      },
    ];
  });
  const findings: readonly Finding[] = [
    { check: 'service', ok: true, says: `${url} takes the token` },
    {
      check: 'repositories',
      ok: repos.length > 0,
      says:
        repos.length > 0
          ? `${repos.length} for this token`
          : 'none for this token: add one on the page of the service',
    },
    sayClone(slug, repos),
    ...queues,
  ];
  emit(asked, findings, () =>
    findings.map(({ check, ok, says }) => `${ok ? 'ok  ' : 'look'} ${check}: ${says}`),
  );
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.unwell;
}

function sayClone(slug: string | null, repos: readonly Entry[]): Finding {
  const check = 'clone';
  if (slug === null)
    return { check, ok: true, says: 'this folder is in none: name the repository with --repo' };
  const isKnown = repos.some(({ name }) => name.toLowerCase() === slug.toLowerCase());
  return { check, ok: isKnown, says: isKnown ? slug : `${slug} has no queue that this token sees` };
}

/** A missing webhook costs time and no landing, so its step may be quiet. */
const checkSetUp = (name: string, entry: Entry): readonly Finding[] =>
  listSteps(entry).map(({ title, tone, state, advice }) => {
    const ok = tone === 'clear' || tone === 'quiet';
    return { check: `${name}: ${title.toLowerCase()}`, ok, says: ok ? state : `${state}. ${advice}` };
  });
