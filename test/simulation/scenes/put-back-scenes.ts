import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes about a forge that is put back from an older copy of itself: commits that the record names are gone. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const REPO = 'repo-1';
const NAMES = ['a', 'b', 'c'];
/** One that meets the lost commits, and one more of the batch that stood on them. */
const FAILED_MAX = 2;

/** The forge is put back once so many have landed, or with null after all of it has come to rest. */
function putForgeBack(landedBefore: number | null): () => Promise<readonly string[]> {
  return async () => {
    let tip = '';
    let backAt = Number.POSITIVE_INFINITY;
    const putBack = ({ forge, clock }: Stage): void => {
      forge.putBack(tip);
      backAt = clock.now();
    };
    const stage: Stage = await setStage({
      wrapForge: wrapForge(async (_name, _args, answer) => {
        const isTime = stage.forge.merges().length === landedBefore && backAt > stage.clock.now();
        if (isTime) putBack(stage);
        return answer();
      }),
    });
    const { forge, clock } = stage;
    await givenProject(forge);
    tip = await forge.tip(forge.base);
    forge.mergeBehaviour = () => ({ kind: 'slow', ms: 2_000 });
    const prs: number[] = [];
    for (const name of NAMES) prs.push(await givenScheduled(forge, name));
    await stage.drain({ maxMs: HOUR_MS });
    if (landedBefore === null) putBack(stage);
    if (backAt === Number.POSITIVE_INFINITY) return ['the scene did not come about'];
    await clock.advance(5 * MINUTE_MS);
    const failed: unknown[] = [];
    const afterEach = async (): Promise<boolean> => {
      const report = await stage.store.loadReport(REPO);
      if (report?.errorCode != null) failed.push(report.errorCode);
      return true;
    };
    await stage.drain({ maxMs: 3 * HOUR_MS, afterEach });
    const events = await stage.events();
    const told = events.filter(({ event }) => event === 'pr_landed').length;
    const left = events.filter(({ event, reason }) => `${event} ${reason}` === 'pr_skipped left_the_queue');
    const open = prs.filter((pr) => !forge.isMerged(pr));
    return [
      ...(open.length === 0 ? [] : [`${open.length} of ${prs.length} did not land again`]),
      // Those that were lost before they were proven in full are told when they have landed again.
      ...(landedBefore === null || told === prs.length ? [] : [`${told} landings are told of ${prs.length}`]),
      ...(landedBefore === null || left.length > 0
        ? []
        : ['none that the forge lost is told to have left the queue']),
      ...(failed.length <= FAILED_MAX ? [] : [`${failed.length} reconciles failed with ${failed[0]}`]),
    ];
  };
}

export const PUT_BACK_SCENES = {
  'the forge is put back while two of three have landed': putForgeBack(2),
  'the forge is put back after all have landed': putForgeBack(null),
} satisfies Scenes;
