import { PENDING_STATUSES_MAX, STANDING_TOLD_AFTER_TRIES } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { known } from '#core/domain/result.ts';
import { decide } from '../../../engine-container/src/queue/decide.ts';
import { fold } from '../../../engine-container/src/queue/fold.ts';
import type { PendingStatus } from '../../../engine-container/src/queue/record/pending-status.ts';
import type { Batch, QueueRecord } from '../../../engine-container/src/queue/record/record.ts';
import { describeDefer, describeOldContext } from '../../../engine-container/src/queue/words/phrases.ts';
import {
  BASE,
  givenEntry,
  givenEvidence,
  givenLanding,
  givenNode,
  givenRecord,
  givenStagedBatch,
  headOf,
  stagedAt,
} from '../../builders/queue-record.ts';
import { givenFocus, givenSnapshot, givenStatus, givenView } from '../../builders/snapshot.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { hasAlarm, look, openLostMerge, type Scenes, setStage } from '../scene-stage.ts';

/** Scenes of a queue that writes under another status context for a while. */

const NEXT = `${DEFAULT_SERVICE_NAME}/next`;
const PROMISE = /^(queued|staged|paused|requeued):/;

/** One waits behind a gate run while the context changes, gets another target under the new one, and the context changes back. */
async function retargetUnderOtherContext(): Promise<readonly string[]> {
  const said: string[] = [];
  const stage = await setStage({
    repo: { bisectFanout: 1, batchTarget: 1 },
    onEntry: (entry) => {
      if (entry.kind === 'status') said.push(entry.description);
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  await givenScheduled(forge, 'a');
  await stage.clock.advance(20_000);
  const pr = await givenScheduled(forge, 'b');
  const { headSha } = await forge.pull(pr);
  const wordsUnder = async (context: string) => (await forge.status(headSha, context))?.description ?? 'none';
  await look(stage, 2);
  const before = await wordsUnder(DEFAULT_SERVICE_NAME);
  const use = async (context: string) => {
    await forge.setProtection({ requiredContexts: [context] });
    await stage.settings({ statusContext: context });
  };
  await use(NEXT);
  await look(stage, 6);
  const under = await wordsUnder(NEXT);
  if (!PROMISE.test(before)) return ['the scene did not come about'];
  const problems = PROMISE.test(under) ? [] : [`one that waits is told "${under}" under the new context`];
  const old = await wordsUnder(DEFAULT_SERVICE_NAME);
  if (!old.startsWith('not used:')) problems.push(`under the old context it is told "${old}"`);
  if (said.some((each) => each.includes('another required check')))
    problems.push('the new context of the queue is told as a check of another');
  await forge.pushBranch('other', await forge.tip('main'));
  await forge.retarget(pr, 'other');
  await look(stage, 4);
  await use(DEFAULT_SERVICE_NAME);
  await look(stage, 2);
  const words = await wordsUnder(DEFAULT_SERVICE_NAME);
  return PROMISE.test(words) ? [...problems, `one with another target is told "${words}"`] : problems;
}

/** A refusal and a bounce are told under the context that the rule asks for now, and no more under the one before. */
async function refusedUnderOtherContext(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const before = await forge.openPullRequest({ branch: 'before', files: { 'src/before.txt': 'x\n' } });
  const pr = await givenScheduled(forge, 'a');
  await forge.addDependency(pr, before);
  const bad = await givenScheduled(forge, 'bad', 'BAD\n');
  await look(stage, 10);
  const wordsUnder = async (context: string) =>
    Promise.all(
      [pr, bad].map(async (each) => (await forge.status(forge.headOf(each), context))?.description ?? 'none'),
    );
  const told = await wordsUnder(DEFAULT_SERVICE_NAME);
  if (!told[0]?.startsWith('refused:') || !told[1]?.startsWith('bounced:'))
    return ['the scene did not come about'];
  await forge.setProtection({ requiredContexts: [NEXT] });
  await stage.settings({ statusContext: NEXT });
  await look(stage, 4);
  const anew = await wordsUnder(NEXT);
  const problems =
    String(anew) === String(told) ? [] : [`under the new context they are told ${anew.join(', ')}`];
  const left = await wordsUnder(DEFAULT_SERVICE_NAME);
  if (left.some((words) => !words.startsWith('not used:')))
    problems.push(`under the old context they are told ${left.join(', ')}`);
  return problems;
}

/** One has left, and its head cannot be written, as the context changes: the others do not wait for mere words. */
async function headCannotBeWritten(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  const left = await givenScheduled(forge, 'a');
  await look(stage, 2);
  const { headSha } = await forge.pull(left);
  const said = await forge.status(headSha, DEFAULT_SERVICE_NAME);
  let failures = 0;
  forge.fault = ({ path }) => {
    if (!path.includes(headSha)) return null;
    failures += 1;
    return { status: 500 };
  };
  await forge.close(left);
  await look(stage, 4);
  await forge.setProtection({ requiredContexts: [NEXT] });
  await stage.settings({ statusContext: NEXT });
  forge.judge = () => 'success';
  const other = await givenScheduled(forge, 'b');
  await look(stage, 20);
  if (said === null || failures === 0) return ['the scene did not come about'];
  return forge.isMerged(other) ? [] : ['words on one head hold up the others'];
}

/** A success stands whose head takes no status, as the queue gets another context that the rule asks for, or does not yet. */
async function standsUnderOldContext(isRuleChanged: boolean, isRead = true): Promise<readonly string[]> {
  const { stage, pr } = (await openLostMerge()) ?? {};
  if (stage === undefined || pr === undefined) return ['the scene did not come about'];
  const { forge } = stage;
  const { headSha } = await forge.pull(pr);
  const isOfHead = (path: string) =>
    path.endsWith(`statuses/${headSha}`) || path.includes(`commits/${headSha}/status`);
  forge.fault = ({ method, path }) =>
    isOfHead(path) && (method === 'POST' || !isRead) ? { status: 500 } : null;
  const other = await givenScheduled(forge, 'b');
  await look(stage, 40);
  if (!hasAlarm(stage, 'success_stands')) return ['the scene did not come about'];
  if (isRuleChanged) await forge.setProtection({ requiredContexts: [NEXT] });
  await stage.settings({ statusContext: NEXT });
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 60);
  const { context } = await stage.record();
  if (!isRuleChanged)
    return context === NEXT ? ['the context is changed while what stands may open a merge'] : [];
  const problems = forge.isMerged(other) ? [] : ['a success that cannot be taken back keeps the change away'];
  const report = await stage.reconcile();
  if (isRead && report?.errorCode !== 'success_stands')
    problems.push(`what stands is told as ${report?.errorCode}`);
  forge.fault = () => null;
  await look(stage, 30);
  const left = await forge.status(headSha, DEFAULT_SERVICE_NAME);
  return left?.state === 'success' ? [...problems, 'what stands is forgotten'] : problems;
}

/** A success stands whose head takes no status: the queue gets another context and the one of before again, and its pull request is closed. */
async function standsUnderContextUsedAgain(): Promise<readonly string[]> {
  const { stage, pr } = (await openLostMerge()) ?? {};
  if (stage === undefined || pr === undefined) return ['the scene did not come about'];
  const { forge } = stage;
  const { headSha } = await forge.pull(pr);
  forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`statuses/${headSha}`) ? { status: 500 } : null;
  const use = async (context: string) => {
    await forge.setProtection({ requiredContexts: [context] });
    await stage.settings({ statusContext: context });
    await look(stage, 40);
    return (await stage.record()).context;
  };
  await look(stage, 40);
  if ((await use(NEXT)) !== NEXT) return ['the scene did not come about'];
  forge.mergeBehaviour = (each) => ({ kind: each === pr ? 'lost' : 'now' });
  const other = await givenScheduled(forge, 'b');
  if ((await use(DEFAULT_SERVICE_NAME)) !== DEFAULT_SERVICE_NAME)
    return ['a success that stands under a context keeps the queue from using it again'];
  const problems = forge.isMerged(other) ? ['one lands beside a success that may open a merge'] : [];
  await forge.close(pr);
  await look(stage, 60);
  return forge.isMerged(other) ? problems : [...problems, 'others wait for a success that opens nothing'];
}

/** More than can be written at once are set aside as the context changes: each is told, and the record stays bounded. */
async function manyAsideUnderNewContext(): Promise<readonly string[]> {
  const reason = 'staging_failed';
  const description = describeDefer(reason) ?? '';
  const numbers = Array.from({ length: PENDING_STATUSES_MAX + 50 }, (_, index) => index + 1);
  const said = (pr: number) => ({ head: headOf(pr), state: 'pending' as const, description });
  let record = givenRecord({
    entries: numbers.map((pr) => givenEntry(pr, { said: said(pr) })),
    deferred: numbers.map((pr) => ({ pr, head: headOf(pr), reason, baseTree: BASE.tree, until: null })),
  });
  const snapshot = givenSnapshot({ ids: [], full: false });
  const s = { ...snapshot, repo: { ...snapshot.repo, statusContext: NEXT } };
  const told = new Set<string>();
  for (let step = 0; step < 30; step += 1) {
    record = decide(s, record).record;
    const { pendingStatuses } = record;
    if (pendingStatuses.length > PENDING_STATUSES_MAX)
      return ['more words wait than the record has room for'];
    for (const each of pendingStatuses)
      if (each.context === NEXT && each.description === description) told.add(each.sha);
    record = { ...record, pendingStatuses: pendingStatuses.slice(100) };
  }
  return told.size === numbers.length
    ? []
    : [`${told.size} of ${numbers.length} are told under the new context`];
}

/** What is left to be written under a context of before on the head of one that lands: words, or what takes a success back. */
function leftUnderContextOfBefore(takesBack: boolean): () => Promise<readonly string[]> {
  return async () => {
    const left: PendingStatus = {
      pr: 1,
      sha: headOf(1),
      context: 'before',
      state: 'pending',
      description: describeOldContext(),
      targetUrl: null,
      failures: STANDING_TOLD_AFTER_TRIES,
      retryAt: Number.MAX_SAFE_INTEGER,
      ...(takesBack ? { takesBack: true, told: true } : {}),
    };
    const nodes = [givenNode({ state: 'done', verdict: 'success', ...stagedAt(1) })];
    const given = (batch: Partial<Batch>, words: readonly PendingStatus[] = [left]) =>
      givenRecord({
        entries: [givenEntry(1)],
        batches: [givenStagedBatch(1, { nodes, ...batch })],
        tip: BASE.sha,
        evidence: [givenEvidence(1, 'success')],
        pendingStatuses: [...words],
      });
    const isLeft = ({ pendingStatuses }: QueueRecord) =>
      pendingStatuses.some(({ context }) => context === left.context);
    const problems: string[] = [];
    const open = givenSnapshot({
      pulls: known([givenView(1)]),
      focus: new Map([[1, known(givenFocus(1))]]),
    });
    const merge = known({ commit: { sha: 'merge-1', tree: 'tree-1' }, standsOnTip: true });
    const ended = givenFocus(1, { pull: { state: 'closed', merged: true }, merge });
    const merged = givenSnapshot({ pulls: known([]), focus: new Map([[1, known(ended)]]) });
    if (!isLeft(decide(open, given({})).record)) problems.push('forgotten as a landing begins');
    const landing = givenLanding({ postedAt: open.now });
    if (!isLeft(decide(merged, given({ landing })).record)) problems.push('forgotten as one has landed');
    const givenUp = [{ pr: 1, head: headOf(1), tree: 'tree-1', baseBefore: BASE.sha, at: open.now - 1_000 }];
    const late = givenRecord({ entries: [givenEntry(1)], givenUp, pendingStatuses: [left] });
    if (!isLeft(decide(merged, late).record)) problems.push('forgotten as one has landed late');

    const own: PendingStatus = {
      ...left,
      context: givenRecord().context,
      description: 'requeued: x',
      takesBack: true,
    };
    const takeBack = { reason: 'base_advanced', postedAt: null } as const;
    const torn = given({ teardown: 'base_advanced', landing: { ...landing, takeBack } }, [own, left]);
    const { retryAt: _retryAt, failures: _failures, ...post } = left;
    const folded = fold(
      open,
      torn,
      { kind: 'post_status', ...post, purpose: 'pending' },
      { kind: 'done' },
      open.now,
    );
    if (folded.record.batches[0]?.landing?.takeBack?.postedAt !== null)
      problems.push('taken for what takes a success back under the context of the queue');

    const statuses = known([givenStatus({ context: own.context, state: 'success' })]);
    const said = { head: headOf(1), state: 'pending' as const, description: 'queued: x' };
    const seen = givenSnapshot({ pulls: known([givenView(1, { statuses })]) });
    const quiet = givenRecord({ entries: [givenEntry(1, { said })], pendingStatuses: [left] });
    const { pendingStatuses } = decide(seen, quiet).record;
    if (!pendingStatuses.some((each) => each.context === own.context && each.takesBack === true))
      problems.push('a success under the context of the queue is not taken back');
    return problems;
  };
}

export const CONTEXT_SCENES = {
  'words are left under the context of before on the head of one that lands': leftUnderContextOfBefore(false),
  'what takes a success back is left under the context of before on the head of one that lands':
    leftUnderContextOfBefore(true),
  'a success cannot be taken back while the queue gets another context': () => standsUnderOldContext(true),
  'a success can neither be taken back nor read while the queue gets another context': () =>
    standsUnderOldContext(true, false),
  'a success cannot be taken back, and the queue goes back to its context': standsUnderContextUsedAgain,
  'a success cannot be taken back under a context that the rule still asks for': () =>
    standsUnderOldContext(false),
  'many are set aside as the queue gets another context': manyAsideUnderNewContext,
  'one is refused and one is bounced as the queue gets another context': refusedUnderOtherContext,
  'a head cannot be written while the queue uses another context': headCannotBeWritten,
  'one gets another target while the queue uses another context': retargetUnderOtherContext,
} satisfies Scenes;
