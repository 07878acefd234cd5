import type { ResultOf } from '#core/contracts/routes/client.ts';
import { type Blocker, findBlocker, type RepoActivity } from '../dashboard/view/blocker.ts';
import { listSteps } from '../dashboard/view/provisioning.ts';
import { type Asked, EXIT, emit } from './asked.ts';
import { isAmong, sayNamed, sayRepo } from './naming.ts';
import { type Named, readRemote } from './remote.ts';
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
  const clone = await readRemote(machine);
  const queues = repos.flatMap((entry) => {
    const mine = activity.repos.find(({ repo_id }) => repo_id === entry.id);
    const blocker = mine === undefined ? null : findBlocker(mine, entry, machine.now());
    const name = `${sayRepo(entry, repos)} ${entry.base_branch}`;
    return [
      ...checkSetUp(name, entry),
      ...(mine?.drifts ?? []).map(({ kind, says, next }) => ({
        check: `${name}: ${kind.replaceAll('_', ' ')}`,
        ok: false,
        says: plain(`${says}. ${next}`),
      })),
      {
        check: `${name}: queue`,
        ok: blocker !== null && mine !== undefined && goesWell(blocker, mine),
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
    sayClone(clone, repos),
    ...queues,
  ];
  emit(asked, findings, () =>
    findings.map(({ check, ok, says }) => `${ok ? 'ok  ' : 'look'} ${check}: ${says}`),
  );
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.unwell;
}

/** Whether nothing keeps a queue from landing. Looks that fail do, though the queue tries again; an engine that starts is none. */
function goesWell({ tone, nextTry }: Blocker, { last_reconcile_error_code: code }: RepoActivity): boolean {
  const fails = nextTry !== undefined && code !== 'engine_starting';
  return tone !== 'stop' && tone !== 'unknown' && !fails;
}

function sayClone(clone: Named | null, repos: readonly Entry[]): Finding {
  const check = 'clone';
  if (clone === null)
    return { check, ok: true, says: 'this folder is in none: name the repository with --repo' };
  const [ok, name] = [isAmong(repos, clone), plain(sayNamed(clone))];
  return { check, ok, says: ok ? name : `${name} has no queue that this token sees` };
}

/** One finding for each step of the set-up. A quiet step is ok: a missing webhook costs time and no landing. */
const checkSetUp = (name: string, entry: Entry): readonly Finding[] =>
  listSteps(entry).map(({ title, tone, state, advice }) => {
    const ok = tone === 'clear' || tone === 'quiet';
    return { check: `${name}: ${title.toLowerCase()}`, ok, says: ok ? state : `${state}. ${advice}` };
  });
