import type { BranchProtection } from '#core/domain/forge/forge.ts';
import {
  globDialect,
  hidesRequiredChecks,
  isJobAccount,
  passesSkippedAlone,
} from '#core/domain/forge/forge-version.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { activeMembers, isInFlight } from '../batches/pipeline.ts';
import { asksFork, type DecisionContext, tellRefusal } from '../decision-context.ts';
import { isBounced } from '../record/bounced.ts';
import { arePendingStatusesFull } from '../record/bounds.ts';
import { deferralsOf, isOfHead, outlastsBase, passesWithOthers } from '../record/deferral.ts';
import { isHeadShut } from '../record/pending-status.ts';
import { isBound, type QueueEntry } from '../record/queue-entry.ts';
import type { QueueRecord, Staged } from '../record/record.ts';
import type { PullRequestView } from '../snapshot.ts';
import { sayAsideAgain } from '../words/deferral-words.ts';
import { describeRefusal } from '../words/phrases.ts';
import { sayError } from '../words/wish-status.ts';
import { admit } from './admission.ts';
import type { Admission, AdmissionFacts, Refusal } from './admission-facts.ts';
import { AuthorPlaces, areAttemptsSpent } from './attempts-and-places.ts';
import { outwaitAgreement, outwaitAnswer } from './failed-readings.ts';
import { reviewHeldByForge } from './held-by-forge.ts';
import { MAY_BE_WHY } from './missed-merge.ts';
import { noteJudged } from './replaced-schedule.ts';

/** Refusals that admission comes to once the checks of others have passed: until then, those that were told hold. */
const AFTER_CHECKS: ReadonlySet<Refusal> = new Set([...MAY_BE_WHY, 'merge_unsigned', 'title_not_mergeable']);

/** One round over the queue, in its order. */
interface AdmissionRound {
  readonly views: ReadonlyMap<PullRequestNumber, PullRequestView>;
  readonly protection: BranchProtection;
  readonly base: Staged;
  readonly places: AuthorPlaces;
  /** By head, of those that had their turn in this round: may the one with this head be staged? */
  readonly heads: Map<CommitSha, boolean>;
  /** By head, the one with it that is in flight: the others wait for it, also those that come before it in the queue. */
  readonly inFlight: ReadonlyMap<CommitSha, PullRequestNumber>;
}

/** A pull request, and what admission says of it whatever places its author has left. */
interface Candidate {
  readonly entry: QueueEntry;
  readonly author: string;
  readonly ofItself: Admission;
}

/** Evaluates admission for every bound pull request; a refusal is said once per (head, reason) (D-04). */
export function admitEntries(pass: DecisionContext): void {
  const round = beginRound(pass);
  if (round === null) return;
  const asideForThemselves: Candidate[] = [];
  for (const entry of pass.record.entries) {
    const view = round.views.get(entry.pr);
    if (view === undefined || !isBound(entry)) continue;
    outwaitAgreement(pass, entry);
    reviewHeldByForge(pass, entry, view.pull);
    // The status of a bounce stays on its head: it is also the memory of it (D-05).
    if (isBounced(pass.record, entry)) continue;
    if (isHeadShut(pass.record, entry.head)) {
      entry.readyAt = null;
      continue;
    }
    if (pass.record.unread?.includes(entry.pr) === true) {
      tellUnanswered(pass, entry);
      continue;
    }
    const candidate = { entry, author: view.pull.author, ofItself: judgeOfItself(pass, round, entry, view) };
    if (isAsideForItself(pass, entry, round.base.tree)) {
      keepHeadForTwins(pass, round, candidate);
      asideForThemselves.push(candidate);
    } else admitInOrder(pass, round, candidate);
  }
  for (const candidate of asideForThemselves) admitIfPlaceIsLeft(pass, round, candidate);
}

/** Null: something that every admission rests on is not known, or no rule governs the base. */
function beginRound({ s, record }: DecisionContext): AdmissionRound | null {
  const { pulls, protection, base } = s;
  if (!s.full || !pulls.known || !protection.known || protection.value === null || !base.known) return null;
  const authors = new Map(pulls.value.map(({ pull }) => [pull.number, pull.author]));
  return {
    views: new Map(pulls.value.map((view) => [view.pull.number, view])),
    protection: protection.value,
    base: base.value,
    places: new AuthorPlaces(s.repo, record, authors),
    heads: new Map(),
    inFlight: holdersOf(record),
  };
}

/** One that has left the queue holds up no twin: what that is refused for is said at once. */
function holdersOf({ entries, batches }: QueueRecord): ReadonlyMap<CommitSha, PullRequestNumber> {
  const queued = new Map(entries.map(({ pr, head }) => [pr, head]));
  const members = batches.flatMap(activeMembers).filter(({ pr, head }) => queued.get(pr) === head);
  return new Map(members.map(({ head, pr }) => [head, pr]));
}

/** May the twin that has the turn be staged: the one in flight, or the first in the queue where none is? Undefined: none is ahead. */
function mayTwinAhead({ heads, inFlight }: AdmissionRound, { pr, head }: QueueEntry): boolean | undefined {
  const holder = inFlight.get(head);
  if (holder === undefined) return heads.get(head);
  return holder === pr ? undefined : true;
}

function judgeOfItself(
  pass: DecisionContext,
  round: AdmissionRound,
  entry: QueueEntry,
  view: PullRequestView,
): Admission {
  const { protection, base } = round;
  const { schedule } = view;
  const scheduler = schedule.known && schedule.value.kind === 'bound' ? schedule.value.by : undefined;
  // Not a spread, which is ten times slower for so many fields: a line has thousands of pull requests.
  return admit(
    Object.assign(factsOf(pass, view, { protection, baseTip: base.sha }), {
      scheduler,
      isByJob: scheduler !== undefined && isJobAccount(scheduler, pass.record.forge?.version ?? null),
      rules: pass.s.repo,
      areAttemptsSpent: areAttemptsSpent(pass, entry),
      opensAnother: view.opensAnother,
      teamPlace: view.teamPlace,
      twinAhead: mayTwinAhead(round, entry) !== undefined,
      isLanding: isLanding(pass.record, entry),
      // Told once, it holds as long as that may be why; its next head and its next schedule are tried.
      isMissed: entry.refusedFor !== null && MAY_BE_WHY.has(entry.refusedFor),
      isUnsigned: entry.refusedFor === 'merge_unsigned',
      isTitleBad: entry.refusedFor === 'title_not_mergeable' || view.pull.title.includes('\0'),
    }),
  );
}

/** A twin waits for the one ahead of it, unless that one is refused or set aside as long as its head lasts. */
function keepHeadForTwins(pass: DecisionContext, { heads }: AdmissionRound, candidate: Candidate): void {
  const { entry, ofItself } = candidate;
  if (ofItself.kind !== 'refused' && !isSetAside(pass, entry))
    heads.set(entry.head, ofItself.kind === 'admitted');
}

/** The places of one author go to the first in the queue; twins wait for the first of them. */
function admitInOrder(pass: DecisionContext, round: AdmissionRound, candidate: Candidate): void {
  const { places, heads } = round;
  const { entry, author, ofItself } = candidate;
  const admission = places.judge(entry.pr, author, ofItself);
  const isBehindTwin = mayTwinAhead(round, entry) === true;
  if (admission.kind !== 'refused') heads.set(entry.head, isBehindTwin || admission.kind === 'admitted');
  applyAdmission(pass, entry, admission, isBehindTwin);
}

/** A deferred pull request uses up no place of its author, and is staged on another tree only where a place is left. */
function admitIfPlaceIsLeft(
  pass: DecisionContext,
  round: AdmissionRound,
  { entry, author, ofItself }: Candidate,
): void {
  const { places } = round;
  const isFull = isRefusedFor(places.judge(entry.pr, author, ofItself), 'author_limit');
  // Its own words say more than those of the limit would.
  if (isFull) entry.readyAt = null;
  else applyAdmission(pass, entry, ofItself, mayTwinAhead(round, entry) === true);
}

/** A success on it that was asked for, and that is not to be taken back. */
function isLanding({ batches }: QueueRecord, { pr, head }: QueueEntry): boolean {
  return batches.some(
    ({ landing }) => landing?.pr === pr && landing.head === head && landing.takeBack === null,
  );
}

/** Set aside while the base has this tree, or as long as its head lasts; not what only waits for those ahead of it. */
function isAsideForItself(pass: DecisionContext, entry: QueueEntry, baseTree: string): boolean {
  const { record, s } = pass;
  return deferralsOf(record, entry).some(
    (deferred) =>
      !passesWithOthers(deferred.reason) &&
      (outlastsBase(deferred) || (deferred.baseTree === baseTree && (deferred.until ?? Infinity) > s.now)),
  );
}

function isRefusedFor(admission: Admission, reason: Refusal): boolean {
  return admission.kind === 'refused' && admission.reason === reason;
}

function isSetAside({ record }: DecisionContext, entry: QueueEntry): boolean {
  return deferralsOf(record, entry).some(isOfHead);
}

/** Facts that admission needs, taken from one view of a pull request and from the branch rule. */
export function factsOf(
  pass: DecisionContext,
  view: PullRequestView,
  { protection, baseTip }: Pick<AdmissionFacts, 'protection' | 'baseTip'>,
): AdmissionFacts {
  const { pull, reviews, statuses, authorWrites, schedulerWrites, mergePlace } = view;
  const { allowedStyles, touchesProtected, dependencies } = view;
  const version = pass.record.forge?.version ?? null;
  return {
    pull,
    protection,
    baseTip,
    reviews,
    statuses,
    authorWrites,
    schedulerWrites,
    mergePlace,
    allowedStyles,
    mergeStyle: pass.s.repo.mergeStyle,
    touchesProtected,
    dependencies,
    asksFork: asksFork(pass),
    passesSkippedAlone: version !== null && passesSkippedAlone(version),
    hidesChecks: version !== null && hidesRequiredChecks(version),
    globs: pass.globs[globDialect(version)],
    context: pass.record.context,
    twinAhead: false,
  };
}

function applyAdmission(
  pass: DecisionContext,
  entry: QueueEntry,
  admission: Admission,
  isBehindTwin: boolean,
): void {
  noteJudged(entry, admission);
  delete entry.isBehindTwin;
  if (admission.kind === 'admitted') {
    entry.readyAt ??= pass.s.now;
    delete entry.unclear;
    if (entry.refusedFor !== null) sayAsideAgain(pass, entry);
    entry.refusedFor = null;
    return;
  }
  if (admission.kind === 'waiting') {
    if (admission.reason === 'unknown') return tellUnanswered(pass, entry);
    entry.readyAt = null;
    delete entry.unclear;
    if (admission.reason === 'twin' && isBehindTwin) entry.isBehindTwin = true;
    // Every other refusal is judged before the checks of others, and did not hold in this look.
    const isOver = entry.refusedFor !== null && !AFTER_CHECKS.has(entry.refusedFor);
    if (admission.reason === 'other_checks' && isOver) entry.refusedFor = null;
    return;
  }
  refuse(pass, entry, admission.reason);
}

/** The words of a refusal hold until it is known to have ended. */
function tellUnanswered(pass: DecisionContext, entry: QueueEntry): void {
  if (entry.readyAt === null && entry.refusedFor === null) outwaitAnswer(pass, entry);
}

/** A refusal is said once per head and reason; admission looks again at each full look (D-04). */
export function refuse(pass: DecisionContext, entry: QueueEntry, reason: Refusal): void {
  entry.readyAt = null;
  delete entry.unclear;
  if (entry.refusedFor === reason) return;
  // Said in a later look, once those before it are written.
  if (arePendingStatusesFull(pass.record) && !isInFlight(pass.record, entry.pr)) {
    pass.record.hasLeftOut = true;
    return;
  }
  entry.refusedFor = reason;
  sayError(pass, entry, describeRefusal(reason));
  tellRefusal(pass, entry, reason);
}
