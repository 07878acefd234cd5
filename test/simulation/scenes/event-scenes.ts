import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { HEARD_COUNTS_MS, HEARD_GATE_LOOK_MS, type HeardKind } from '#core/domain/wakes/heard-events.ts';
import { Secret } from '#core/secret.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { createMemoryStore } from '../../fakes/memory-store.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import { FakeWakeQueue } from '../../fakes/wake-queue.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Scenes, type Stage, setStage } from '../scene-stage.ts';
import { Signer } from '../service/signer.ts';

const MINUTE_MS = 60_000;
const GATE_MS = 40 * MINUTE_MS;
const TICK_MS = 5 * MINUTE_MS;
/** Two minutes apart, and some when it is staged and when it lands. */
const RARE_LOOKS_MAX = GATE_MS / HEARD_GATE_LOOK_MS + 12;
const OFTEN_LOOKS_MIN = GATE_MS / 30_000;

/** A repository of which events of a kind arrived so long ago, and whose gate takes its time. */
async function givenHeard(kind: HeardKind, agoMs = 0): Promise<Stage> {
  const stage = await setStage({ repo: { wakeupMode: 'webhook' } });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = GATE_MS;
  await stage.store.noteHeard('repo-1', kind, stage.clock.now());
  await stage.clock.advance(agoMs);
  return stage;
}

/** From the schedule to the landing. `isTold`: an event comes with the end of each gate run. */
async function land(stage: Stage, name: string, isTold: boolean): Promise<{ looks: number; ms: number }> {
  const { forge, clock } = stage;
  const pr = await givenScheduled(forge, name);
  const begunAt = clock.now();
  const ended = () => forge.runs().filter(({ state }) => state !== 'running').length;
  let looks = 0;
  while (!forge.isMerged(pr) && looks < 1_000) {
    const report = await stage.reconcile();
    looks += 1;
    const before = ended();
    const due = Math.min(report?.wakeAt ?? Number.POSITIVE_INFINITY, clock.now() + TICK_MS);
    const isNews = () => forge.isMerged(pr) || (isTold && ended() > before);
    while (clock.now() < due && !isNews()) await clock.advance(Math.min(1_000, due - clock.now()));
  }
  return { looks, ms: clock.now() - begunAt };
}

/** Each verdict is told of by an event. */
async function tellEachVerdict(): Promise<readonly string[]> {
  const stage = await givenHeard('run');
  const problems: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    const { looks, ms } = await land(stage, name, true);
    if (looks > RARE_LOOKS_MAX) problems.push(`${looks} looks although an event tells of the verdict`);
    if (ms > GATE_MS + MINUTE_MS) problems.push('a landing waited for a poll although an event came');
  }
  return problems;
}

/** Events arrived once, and do no more. */
async function tellNoMore(): Promise<readonly string[]> {
  const stage = await givenHeard('run');
  const first = await land(stage, 'a', false);
  const second = await land(stage, 'b', false);
  const problems: string[] = [];
  if (first.looks > RARE_LOOKS_MAX) problems.push('the scene did not come about');
  if (first.ms > GATE_MS + HEARD_GATE_LOOK_MS + MINUTE_MS)
    problems.push('a verdict that no event told of waited for longer than a poll');
  if (second.looks < OFTEN_LOOKS_MIN)
    problems.push('after a verdict that no event told of the gates are still polled rarely');
  return problems;
}

/** Events of another kind, and events of the day before. */
async function tellOfOtherThings(): Promise<readonly string[]> {
  const problems: string[] = [];
  const other = await land(await givenHeard('status'), 'a', false);
  if (other.looks < OFTEN_LOOKS_MIN) problems.push('events of another kind make the polls of a gate rare');
  const old = await land(await givenHeard('run', HEARD_COUNTS_MS), 'a', false);
  if (old.looks < OFTEN_LOOKS_MIN) problems.push('events of the day before make the polls of a gate rare');
  return problems;
}

/** Other news lead to looks all the time while a gate is out. */
async function lookInBetween(): Promise<readonly string[]> {
  const stage = await givenHeard('run');
  await givenScheduled(stage.forge, 'a');
  await stage.reconcile();
  const planned = (await stage.reconcile())?.wakeAt ?? 0;
  await stage.clock.advance(HEARD_GATE_LOOK_MS / 4);
  const kept = (await stage.reconcile())?.wakeAt;
  return kept === planned ? [] : ['a look at other news puts the poll of a gate off'];
}

/** A forge tells of runs every few minutes for two hours. */
async function tellAllTheTime(): Promise<readonly string[]> {
  const clock = new VirtualClock();
  let notes = 0;
  const store = createMemoryStore({
    clock,
    beforeCall: (label) => {
      if (label === 'noteHeard') notes += 1;
    },
  });
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  const repo = givenRepo({ wakeupMode: 'webhook', dueAt: null, webhookSecret: new Secret('hook-secret') });
  await store.createRepo(repo, null);
  const deps = { store, leases: store, queue: new FakeWakeQueue(clock), clock };
  const secrets = new FakeSecretBox();
  for (let nth = 0; nth < 40; nth += 1) {
    const text = JSON.stringify({
      nth,
      sender: { login: 'dev' },
      repository: { full_name: repo.slug, html_url: `${repo.instanceUrl}/${repo.slug}` },
    });
    const { bytes, signature } = new Signer().sign(text, new Secret('hook-secret'));
    await acceptForgeWebhook(
      { ...deps, secrets, queueName: DEFAULT_SERVICE_NAME, planLimits: PLAN_LIMITS },
      { body: bytes, signature, eventType: 'workflow_run', deliveryId: `d-${nth}`, hookId: undefined },
    );
    await clock.advance(3 * MINUTE_MS);
  }
  // One an hour of each of the two kinds: that a delivery came, and that a run was told of.
  const problems = notes > 6 ? [`${notes} notes of events in two hours`] : [];
  return (await store.getRepo(repo.id))?.heard?.run === undefined
    ? [...problems, 'no event was noted']
    : problems;
}

export const EVENT_SCENES = {
  'an event tells of each verdict': tellEachVerdict,
  'a forge sends events no more': tellNoMore,
  'events of another kind and of the day before': tellOfOtherThings,
  'other news come while a gate is out': lookInBetween,
  'a forge sends events all the time': tellAllTheTime,
} satisfies Scenes;
