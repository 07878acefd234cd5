import { createWorldOn } from '../../scenario/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
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
import type { Moment, Outcome, Play, Story, Tell } from './story.ts';
import { WordWatch } from './word-watch.ts';

const LIFE_MS_MAX = 90 * 60_000;
/** Once nothing is under way, an act whose call has not come does not come any more. */
const UNACTED_MS_MAX = 25 * 60_000;
/** The longest time to the next look around the act, and later. */
const NEAR_LOOK_MS = 30_000;
const FAR_LOOK_MS = 180_000;
const EVENT_STEP_MS = 500;
const EVENT_MS = 700;
const QUIET_LOOKS = 2;

/** The engine alone, woken at each time that it asks for, at each event of the forge within a second, and in between. */
export async function playBare(
  story: Story,
  moment: Moment | null,
  target: number,
  told: Tell | null = null,
): Promise<Outcome> {
  const clock = new VirtualClock();
  const tell = tellTimes(clock, told);
  const forge = raiseForge(story, clock, tell);
  const blow = new Blow(moment, { clock, pass: (ms) => clock.advance(ms), tell });
  const style = story.style ?? 'squash';
  const world = await createWorldOn(clock, forge, forge.forge, {
    wrapForge: (port) => blow.wrap(port),
    lastingEngine: true,
    repo: { mergeStyle: style },
  });
  const start = await givenBranches(forge);
  const prs = await story.given(forge);
  await clock.advance(BEGIN_MS);
  const play: Play = {
    forge,
    style,
    prs,
    pr: targetOf(prs, target),
    start,
    handMerged: new Set(),
    now: () => clock.now(),
    save: (changes) => world.settings(changes),
  };
  const judge = judgeOf(forge);
  const words = new WordWatch(play, story, moment?.act ?? null);
  const begun = clock.now();
  blow.begin(play);
  const stored = async () => {
    const repo = await world.store.getRepo('repo-1');
    if (repo === null) throw new Error('the repository is gone');
    return { repo, record: await world.record().catch(() => null) };
  };

  let quietLooks = 0;
  let lines = 0;
  while (clock.now() < begun + LIFE_MS_MAX) {
    const report = await world.reconcile();
    const { repo, record } = await stored();
    const views = await world.store.readQueueViews(['repo-1']);
    await words.look({ repo, record, view: views.get('repo-1'), doneAt: blow.doneAt });
    const sinceMs = blow.doneAt === null ? 0 : clock.now() - blow.doneAt;
    const isOver = moment === null || sinceMs > AFTER_ACT_MS;
    const isQuiet = forge.journal().length === lines && isOver && !isBusy(record);
    quietLooks = isQuiet ? quietLooks + 1 : 0;
    lines = forge.journal().length;
    if (quietLooks === QUIET_LOOKS) break;
    if (!isOver && !blow.hasActed && !isBusy(record) && clock.now() > begun + UNACTED_MS_MAX) break;
    const next = Math.min(
      report?.wakeAt ?? Number.POSITIVE_INFINITY,
      clock.now() + (isOver ? FAR_LOOK_MS : NEAR_LOOK_MS),
    );
    do await clock.advance(EVENT_STEP_MS);
    while (clock.now() < next && forge.journal().length === lines);
    if (forge.journal().length !== lines) await clock.advance(EVENT_MS);
  }

  const end = {
    story,
    act: moment?.act ?? null,
    play,
    judge,
    ...(await stored()),
    // The newest is listed first.
    events: (await world.events()).toReversed().sort((one, other) => one.at - other.at),
    rows: await world.rows(),
    alarms: new Set(
      world.log.flatMap(({ fields }) => (fields.alarm === undefined ? [] : [String(fields.alarm)])),
    ),
  };
  return tellOutcome(end, { blow, words, begun, tell });
}
