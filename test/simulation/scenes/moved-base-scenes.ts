import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { Judge } from '../judge.ts';
import { look, type Scene, type Scenes, setStage } from '../scene-stage.ts';

/** Scenes in which a person pushes to the base under a batch. */

/** Longer than a reconcile. */
const OUTAGE_MS = 30_000;

/**
 * A person pushes to the base before each call of three landings in turn: what is seen to have moved is no ground for a
 * success (A4). The rule cannot be read when the run ends, so that a look at everything comes right before the first one.
 */
async function pushBeforeEachCall(): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let at = 0; ; at += 1) {
    const calls: string[] = [];
    let awayUntil = 0;
    const stage = await setStage({
      onEntry: (entry, { clock }) => {
        if (entry.kind === 'run' && awayUntil === 0) awayUntil = clock.now() + OUTAGE_MS;
      },
      wrapForge: (forge) =>
        new Proxy(forge, {
          get(target, name) {
            const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
            return async (...values: unknown[]) => {
              const [, post] = values as [unknown, { readonly state?: string } | undefined];
              if (calls.length === at) await stage.forge.pushToBase({ 'pushed.txt': `${at}\n` });
              calls.push(name === 'postStatus' && post?.state === 'success' ? 'success' : String(name));
              return call.apply(target, values);
            };
          },
        }),
    });
    stage.forge.fault = ({ path }) =>
      path.endsWith('/branch_protections') && stage.clock.now() < awayUntil ? { status: 502 } : null;
    await givenProject(stage.forge);
    const judge = new Judge(stage.forge, {
      bot: 'mq-bot',
      contexts: [DEFAULT_SERVICE_NAME],
      baseIsProtected: false,
    });
    for (const name of ['a', 'b', 'c']) await givenScheduled(stage.forge, name);
    for (let count = 0; count < 20 && stage.forge.merges().length < 3; count += 1) {
      await stage.reconcile();
      await stage.clock.advance(10_000);
    }
    if (calls.length <= at) return problems;
    judge.read();
    const success = calls.indexOf('success', at);
    // Between the last look and the success nothing can prevent it; the tree of the merge shows it afterwards.
    const wasSeen = calls.slice(at, success).includes('readPullRequest');
    if (success >= 0 && wasSeen && judge.unproven.size > 0)
      problems.push(`call ${at} (${calls[at]}): landed on a base that was seen to have moved`);
  }
}

/** The base moves while the batch is gated: the batch ends, whatever its run is going to say (A23). */
async function pushWhileGated(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  await givenScheduled(stage.forge, 'a');
  await look(stage, 2);
  await stage.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
  await look(stage, 3);
  const first = (await stage.rows()).find((row) => row.terminalReason === 'base_advanced');
  return first?.outcome === 'invalidated' ? [] : ['a batch outlived its base'];
}

/**
 * The list shows a tip of the base for good that a push has replaced, which the forge failed to write down. A head from before the
 * push applies to the new tip, and one from after it holds what was pushed and does not.
 */
function listedTipIsLate(heads: 'before' | 'after'): Scene {
  return async () => {
    const stage = await setStage();
    const { forge } = stage;
    await givenProject(forge);
    const older = heads === 'before' ? await givenScheduled(forge, 'a') : null;
    forge.listedTip = await forge.tip('main');
    await forge.pushToBase({ 'pushed.txt': 'pushed\n' });
    const pr = older ?? (await givenScheduled(forge, 'a'));
    await look(stage, 16);
    return forge.isMerged(pr) ? [] : ['it is staged on a tip that is none, again and again'];
  };
}

/** The same, from a push on in the midst of a search. */
async function listedTipIsLateAmidSearch(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  const good = await givenScheduled(forge, 'a');
  await givenScheduled(forge, 'bad', 'BAD\n');
  await look(stage, 3);
  forge.listedTip = await forge.tip('main');
  await forge.pushToBase({ 'pushed.txt': 'pushed\n' });
  for (const { id } of forge.runs()) await forge.finishRun(id, 'failure');
  forge.judge = (files) => (files.has('src/bad.txt') ? 'failure' : 'success');
  await look(stage, 40);
  return forge.isMerged(good) ? [] : ['a search goes on upon a tip that is none, without an end'];
}

export const MOVED_BASE_SCENES = {
  'the list shows a tip of the base for good that a push has replaced': listedTipIsLate('before'),
  'the list shows a tip of the base for good that its heads have left': listedTipIsLate('after'),
  'the list shows a late tip of the base from within a search on': listedTipIsLateAmidSearch,
  'a push to the base before each call': pushBeforeEachCall,
  'a push to the base while gated': pushWhileGated,
} satisfies Scenes;
