import { randomUUID } from 'node:crypto';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { LEASE_TTL_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { Secret } from '#core/secret.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { LATE_PUSH_ENTRY_MS } from '../../../engine-container/src/queue/admission/eligibility.ts';
import { NO_HISTORY } from '../../../engine-container/src/queue/policy/rate.ts';
import { toDocument } from '../../../engine-container/src/stored-record/record-codec.ts';
import { givenHeldLease } from '../../builders/held-lease.ts';
import { givenRepo } from '../../builders/managed-repo.ts';
import { GitDesk } from '../../scenario/trees/git-desk.ts';
import { type Api, openPull, schedule } from '../../scenario/trees/people.ts';
import { callApi, type TreeForge } from '../../scenario/trees/tree-forge.ts';
import { createWorldOn, type World } from '../../scenario/world.ts';
import type { ForgeControl } from '../../support/forge-control.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import { countedSend, type SeenCall, type Traffic } from './counted-send.ts';

const QUEUE = DEFAULT_SERVICE_NAME;
const CONTEXT = 'bench';
const STYLE = 'squash';
const FILES_PER_FOLDER = 100;
const CALL_TIMEOUT_MS = 30_000;
/** An event of the forge wakes the engine so soon. */
const EVENT_MS = 250;
const LOOKS_MAX = 2_000;
/** A look at a repository in which nothing happens; one page more for every 50 open pull requests. */
const IDLE_CALLS_MAX = 25;

export interface Load {
  /** Pull requests of the batch. */
  readonly batch: number;
  /** Files of the repository. */
  readonly files: number;
  /** Pull requests that are open beside the batch and are not scheduled. */
  readonly open: number;
}

export interface Landing {
  /** From the schedules to the commit of the batch. */
  readonly staging: Traffic & { readonly ms: number };
  /** From the verdict of the gate to the last merge. */
  readonly landing: Traffic & { readonly ms: number };
  /** From the schedules to the look that finds nothing left. */
  readonly whole: Traffic;
}

interface Project {
  readonly slug: string;
  readonly api: Api;
  readonly numbers: readonly number[];
}

/** A repository of its own with one branch and one pull request for each of `count`, each with a file of its own. */
async function givenPulls(forge: TreeForge, clock: VirtualClock, name: string, load: Load): Promise<Project> {
  const slug = await forge.createRepo(name);
  const api: Api = (as, method, path, body) =>
    callApi(forge.send, forge.instanceUrl, forge[as].token, method, `/repos/${slug}${path}`, body);
  const url = new URL(`${forge.instanceUrl}/${slug}.git`);
  url.username = forge.person.login;
  url.password = forge.person.token;
  const desk = new GitDesk(url.href, forge.caFile);
  const count = load.batch + load.open;
  try {
    await desk.open();
    const files = Array.from({ length: load.files }, (_, at) => {
      const path = `src/${Math.floor(at / FILES_PER_FOLDER)}/file-${at}.txt`;
      return [path, { mode: '100644' as const, content: `file ${at}\n` }] as const;
    });
    const [base = '', ...heads] = await desk.commitAll([
      { parent: null, change: Object.fromEntries(files), message: 'First commit' },
      ...Array.from({ length: count }, (_, at) => ({
        parent: 0,
        change: { [`src/0/change-${at}.txt`]: { mode: '100644' as const, content: `change ${at}\n` } },
        message: `Change ${at}`,
      })),
    ]);
    await desk.push({ main: base });
    await desk.push(Object.fromEntries(heads.map((head, at) => [`p${at + 1}`, head])));
  } finally {
    desk.dispose();
  }
  await forge.settle();
  const numbers: number[] = [];
  for (let at = 1; at <= count; at += 1) numbers.push(await openPull(forge, clock, api, `p${at}`));
  await clock.advance(EVENT_MS);
  await forge.settle();
  return { slug, api, numbers };
}

/** What the forge itself needs for the merges, one after the other, without a queue or a rule. In ms. */
export async function mergeByHand(
  forge: TreeForge,
  clock: VirtualClock,
  name: string,
  load: Load,
): Promise<number> {
  const { api, numbers } = await givenPulls(forge, clock, name, { ...load, open: 0 });
  const startedAt = clock.now();
  for (const pr of numbers) {
    for (let look = 1; ; look += 1) {
      try {
        await api('person', 'POST', `/pulls/${pr}/merge`, { Do: STYLE });
        break;
      } catch (error) {
        // Its check for conflicts is still out: each merge moves the base of the others.
        if ((error as { status?: number }).status !== 405 || look === LOOKS_MAX) throw error;
      }
      await clock.advance(EVENT_MS);
      await forge.settle();
    }
  }
  return clock.now() - startedAt;
}

/** One batch from the schedules to the last merge, by an engine that an event wakes for each thing that happens. */
export async function landBatch(
  forge: TreeForge,
  clock: VirtualClock,
  name: string,
  load: Load,
  tell?: (call: SeenCall) => void,
): Promise<Landing> {
  const { slug, api, numbers } = await givenPulls(forge, clock, name, load);
  await api('bot', 'POST', '/branch_protections', {
    rule_name: 'main',
    enable_status_check: true,
    status_check_contexts: [QUEUE],
  });
  const batch = numbers.slice(0, load.batch);
  const { send, take, takeBuilt } = countedSend(forge.send, () => clock.now(), tell);
  const client = () =>
    createEngineForge(givenHeldLease(), {
      instanceUrl: forge.instanceUrl,
      slug,
      token: new Secret(forge.bot.token),
      send,
      clock,
      timeoutMs: CALL_TIMEOUT_MS,
    });
  const repo: Partial<ManagedRepo> = {
    instanceUrl: forge.instanceUrl,
    slug,
    mergeStyle: STYLE,
    bisectFanout: 1,
    gate: 'statuses',
    gateContexts: [CONTEXT],
    gateAuthors: [forge.person.login],
  };
  const world = await createWorldOn(clock, {} as ForgeControl, client, { repo, lastingEngine: true }, () =>
    forge.settle(),
  );
  // The first looks at a repository read a timeline for each open pull request, once.
  await until(world, clock, forge, async () => (take().calls <= IDLE_CALLS_MAX ? true : null));
  await giveTrust(world);
  for (const pr of batch)
    if (!(await schedule(forge, clock, api, pr, STYLE))) throw new Error(`#${pr} cannot be scheduled`);
  // So long after the schedules no success waits for a push that is written down late.
  await clock.advance(LATE_PUSH_ENTRY_MS);
  await forge.settle();
  take();
  const stagedFrom = clock.now();
  const judged = new Set<string>();
  await until(world, clock, forge, () => findStaged(api, judged));
  // The engine looks at a gate that has just begun for some seconds.
  const built = takeBuilt();
  const staging = { ...built.traffic, ms: built.at - stagedFrom };
  await judge(api, judged);
  const landedFrom = clock.now();
  await until(world, clock, forge, async () => {
    // What one reconcile has no time to stage is a batch of its own.
    await judge(api, judged);
    return (await countLanded(world)) === batch.length || null;
  });
  const landing = { ...take(), ms: clock.now() - landedFrom };
  await until(world, clock, forge, async () => (await world.record()).batches.length === 0 || null);
  const rest = take();
  const whole = {
    calls: staging.calls + built.rest.calls + landing.calls + rest.calls,
    bytes: staging.bytes + built.rest.bytes + landing.bytes + rest.bytes,
  };
  return { staging, landing, whole };
}

/** A history so good that the engine takes as many into one batch as there may be. */
async function giveTrust(world: World): Promise<void> {
  const { id } = givenRepo();
  const repo = await world.store.getRepo(id);
  if (repo === null) throw new Error('the repository is gone');
  const stored = await world.store.loadQueueRecord(id);
  const record = { ...(await world.record()), rate: { ...NO_HISTORY, landed: 1e6 } };
  const deps = { leases: world.store, clock: world.clock, ids: { uuid: randomUUID } };
  await withLease(deps, id, 'bench', LEASE_TTL_MS, (held) =>
    world.store.saveQueue(held, repo, {
      document: toDocument(record),
      expectedVersion: stored?.version ?? null,
      batches: [],
      events: [],
    }),
  );
}

async function until<Found>(
  world: World,
  clock: VirtualClock,
  forge: TreeForge,
  look: () => Promise<Found | null>,
): Promise<Found> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    await world.reconcile();
    const found = await look();
    if (found !== null) return found;
    await clock.advance(EVENT_MS);
    await forge.settle();
  }
  const said = world.log.map(({ message }) => message).slice(-3);
  throw new Error(`it never came: ${said.join('; ')}`);
}

/** A staged commit without a verdict. */
async function findStaged(api: Api, judged: ReadonlySet<string>): Promise<string | null> {
  const branches = (await api('bot', 'GET', '/branches?limit=50')) as {
    readonly name: string;
    readonly commit: { readonly id: string };
  }[];
  const isStaged = (name: string, sha: string) => name.startsWith(stagingPrefix(QUEUE)) && !judged.has(sha);
  return branches.find(({ name, commit }) => isStaged(name, commit.id))?.commit.id ?? null;
}

async function judge(api: Api, judged: Set<string>): Promise<void> {
  const staged = await findStaged(api, judged);
  if (staged === null) return;
  judged.add(staged);
  await api('person', 'POST', `/statuses/${staged}`, { context: CONTEXT, state: 'success' });
}

async function countLanded(world: World): Promise<number> {
  return (await world.events()).filter(({ event }) => event === 'pr_landed').length;
}
