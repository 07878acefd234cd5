import { Secret } from '#core/secret.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { SimClock } from '../../support/sim-clock.ts';
import { ForgeHooks } from '../forge-hooks.ts';
import type { Managed } from '../managed.ts';
import { NO_ODDS } from '../odds.ts';
import type { Witness } from '../service/hosts.ts';
import { SimService } from '../service/service.ts';
import { Blow } from './blow.ts';
import { tellOutcome } from './outcome.ts';
import {
  AFTER_ACT_MS,
  BEGIN_MS,
  givenBranches,
  isBusy,
  judgeOf,
  raiseForge,
  targetOf,
  tellTimes,
} from './stage.ts';
import { BOT, type Moment, type Outcome, type Play, type Story, type Tell } from './story.ts';
import { WordWatch } from './word-watch.ts';

const LIFE_MS_MAX = 60 * 60_000;
const UNACTED_MS_MAX = 30 * 60_000;
const SET_UP_MS = 60_000;
const NEAR_LOOK_MS = 5_000;
const FAR_LOOK_MS = 60_000;
/** A story without an act goes on for as long as the looks around one take. */
const QUIET_LOOKS = 2;
const QUIET_LOOKS_WITHOUT_ACT = 30;
const SEED = 7;

/** The whole service: worker, idle looks, glances, ticks and webhooks, on machines that do not fail. */
export async function playDeployed(
  story: Story,
  moment: Moment | null,
  target: number,
  told: Tell | null = null,
): Promise<Outcome> {
  const clock = new SimClock();
  try {
    return await playOn(clock, story, moment, target, tellTimes(clock, told));
  } finally {
    clock.stop();
  }
}

async function playOn(
  clock: SimClock,
  story: Story,
  moment: Moment | null,
  target: number,
  tell: Tell,
): Promise<Outcome> {
  const violations: string[] = [];
  const witness: Witness = {
    note: (line) => tell(`   ~ ${line}`),
    violate: (what) => violations.push(what),
    sometimes: () => undefined,
    seen: () => undefined,
    afterReconcile: () => undefined,
    halted: () => undefined,
  };
  const service = new SimService(clock, createSeededRandom(SEED), { ...NO_ODDS, idleLooks: 1 }, witness);
  const { store } = service;
  let hooks: ForgeHooks | null = null;
  const raised = raiseForge(story, clock, tell, (entry) => hooks?.tell('repo-1', entry));
  const blow = new Blow(moment, { clock, pass: (ms) => clock.sleep(ms), tell });
  const forge: AbstractForge = Object.defineProperty(raised, 'forge', { value: blow.wrap(raised.forge) });
  const style = story.style ?? 'squash';
  const repo = givenRepo({
    id: 'repo-1',
    tenantId: 'tenant-1',
    connectionId: '00000001-0000-4000-8000-000000000000',
    mergeStyle: style,
    wakeupMode: 'webhook',
    webhookSecret: new Secret('hook-secret-1'),
    dueAt: clock.now() + SET_UP_MS,
  });
  await store.createTenant('tenant-1', 0);
  await store.createConnection(
    givenConnection({ id: repo.connectionId, tenantId: 'tenant-1', botUsername: 'mq-bot-tenant-1' }),
  );
  await store.createRepo(repo, null);
  service.forges.set('repo-1', forge);
  const start = await givenBranches(forge);
  await service.wakeNow('repo-1');
  await clock.runUntil(clock.now() + SET_UP_MS);
  const prs = await story.given(forge);
  await clock.runUntil(clock.now() + BEGIN_MS);
  const play: Play = {
    forge,
    style,
    prs,
    pr: targetOf(prs, target),
    start,
    handMerged: new Set(),
    now: () => clock.now(),
    async save(changes) {
      const stored = await store.getRepo('repo-1');
      if (stored === null) throw new Error('the repository is gone');
      const lastLook = changes.queueEnabled === false ? { lastLook: true as const } : undefined;
      await store.updateRepo({ ...stored, ...changes, updatedAt: clock.now() }, lastLook);
      await service.wakeNow('repo-1');
    },
  };
  const judge = judgeOf(forge);
  const words = new WordWatch(play, story, moment?.act ?? null);
  const begun = clock.now();
  blow.begin(play);
  hooks = new ForgeHooks({
    service,
    clock,
    managed: [{ id: 'repo-1', forge } as Managed],
    sharesForge: false,
    bot: BOT,
    gateEventsMs: Number.POSITIVE_INFINITY,
    sometimes: () => undefined,
  });
  service.startTicks();
  await service.wakeNow('repo-1');
  const stored = async () => {
    const found = await store.getRepo('repo-1');
    if (found === null) throw new Error('the repository is gone');
    return { repo: found, record: store.peekRecord('repo-1') };
  };

  let quietLooks = 0;
  let lines = 0;
  const quietMax = moment === null ? QUIET_LOOKS_WITHOUT_ACT : QUIET_LOOKS;
  while (clock.now() < begun + LIFE_MS_MAX && quietLooks < quietMax) {
    const isOver = blow.doneAt !== null && clock.now() - blow.doneAt > AFTER_ACT_MS;
    await clock.runUntil(clock.now() + (isOver ? FAR_LOOK_MS : NEAR_LOOK_MS));
    const now = await stored();
    const views = await store.readQueueViews(['repo-1']);
    await words.look({ ...now, view: views.get('repo-1'), doneAt: blow.doneAt });
    const isStill = forge.journal().length === lines && !isBusy(now.record);
    quietLooks = isStill && (isOver || moment === null) ? quietLooks + 1 : 0;
    lines = forge.journal().length;
    if (moment !== null && !blow.hasActed && isStill && clock.now() > begun + UNACTED_MS_MAX) break;
  }

  const end = {
    story,
    act: moment?.act ?? null,
    play,
    judge,
    ...(await stored()),
    // The newest is listed first.
    events: (await store.listEvents('tenant-1', 5_000)).toReversed().sort((one, other) => one.at - other.at),
    rows: await store.listBatches('tenant-1', 500),
    alarms: new Set([...service.alarms.keys()].map((alarm) => alarm.split(' ')[0] ?? '')),
  };
  return tellOutcome(end, { blow, words, begun, tell, violations });
}
