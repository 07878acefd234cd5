import { isSetUpLookDue } from '#core/domain/set-up/hook-seen.ts';
import { noteRule, withRuledBranch } from '../admission/rule-notes.ts';
import { noticeRuledBranch } from '../batches/ruled-branch.ts';
import { type DecisionContext, raiseStandstill } from '../decision-context.ts';
import { forgetOtherGates } from '../gate/missing-gate.ts';
import { noticeBase } from '../landing/base-seen.ts';
import { stopBesideRival } from '../landing/merged-outside.ts';
import { isNoneToAwait } from '../landing/standing.ts';
import { sayAsideAgain } from '../words/deferral-words.ts';
import { describeOldContext, isDeparture, isLandingTold } from '../words/phrases.ts';
import { sayError } from '../words/wish-status.ts';
import { arePendingStatusesFull } from './bounds.ts';
import { isUnderContext, type PendingStatus } from './pending-status.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { QueueRecord } from './record.ts';
import { isLifted } from './stop-state.ts';

/** A refusal is told under the new context, and ends under the one before. */
const WORDS_OF_A_CHANGE = 2;

/**
 * The news of the snapshot besides the queue itself: readings for the next look to compare with, rule, hook, base, and settings
 * that changed under the record. A halt ends, or a rival stops the queue.
 */
export function adoptSnapshot(pass: DecisionContext): void {
  keepReadings(pass);
  keepSettingsFile(pass);
  if (pass.s.isBaseMissing === true) raiseStandstill(pass, 'base_missing');
  noticeRuledBranch(pass);
  keepRule(pass);
  keepHook(pass);
  noticeName(pass);
  noticeArchive(pass);
  forgetRefusedStaging(pass);
  noticeBase(pass);
  endHalt(pass);
  stopBesideRival(pass);
  adoptContext(pass);
  sayUnderNewContext(pass);
  forgetOtherGates(pass);
}

function keepReadings({ record, s }: DecisionContext): void {
  if (s.full && s.readings !== null) record.readings = [...s.readings];
  if (s.forge?.known === true) record.forge = s.forge.value;
}

function keepSettingsFile({ record, s }: DecisionContext): void {
  if (s.settingsSeen !== undefined) record.settingsSeen = s.settingsSeen;
  if (!s.repo.settingsFile) delete record.settingsSeen;
}

/** Written only where it says something new, and once in an hour: an idle record must stay as it is. */
function keepRule({ record, s }: DecisionContext): void {
  // No rule governs a branch that is not there, which says nothing about its rule.
  if (s.isBaseMissing === true) return;
  const { rule: told } = record;
  const isRuled = record.ruledBranch !== undefined;
  if (!s.protection.known) {
    // Reasons of a rule that was not read now are as old as they were: what was set up since may have put them right.
    if (told !== undefined) record.rule = { ...told, reasons: withRuledBranch(told.reasons, isRuled) };
    return;
  }
  const { context } = record;
  const reasons = withRuledBranch(noteRule(s.protection.value, context), isRuled);
  const isTold = told?.context === context && String(told.reasons) === String(reasons);
  if (!isTold || told.at < (s.repo.provisioning.lastProvisionedAt ?? 0))
    record.rule = { at: s.now, context, reasons };
  else if (isSetUpLookDue(told.lookedAt ?? told.at, s.now)) record.rule = { ...told, lookedAt: s.now };
}

/** Told to the owner: where deliveries do not come, the tick still does. */
function keepHook({ record, s }: DecisionContext): void {
  if (s.hook?.known !== true) return;
  const state = s.hook.value;
  const since = record.hook?.state === state ? record.hook.since : s.now;
  record.hook = { since, at: s.now, state };
}

/** The reference that made our branches impossible may be gone; where that was a branch, a tag is none. */
function noticeName(pass: DecisionContext): void {
  const { record, s } = pass;
  const ref = s.nameInTheWay?.known === true ? s.nameInTheWay.value : undefined;
  const known = record.nameInTheWay;
  const isOther = ref?.kind === 'tag' && known?.kind === 'branch' && known.isNamesake === undefined;
  const isGone = ref === null || isOther;
  if (isGone) delete record.nameInTheWay;
  if (record.nameInTheWay !== undefined) raiseStandstill(pass, 'branch_name_taken');
}

/** Each pull request shows it, and one that is read by itself does so before the list. Where none is open, nothing is held up. */
function noticeArchive(pass: DecisionContext): void {
  const { record, s } = pass;
  const focused = [...s.focus.values()].flatMap((seen) => (seen.known ? [seen.value.pull] : []));
  const isListed = s.full && s.pulls.known;
  const listed = isListed ? s.pulls.value.map(({ pull }) => pull) : [];
  const seen = focused.length > 0 ? focused : listed;
  if (seen.some(({ isArchived }) => isArchived === true)) record.archivedSince ??= s.now;
  else if (seen.length > 0 || isListed) delete record.archivedSince;
  if (record.archivedSince !== undefined) raiseStandstill(pass, 'forge_access_denied');
}

/** Where no pull request waits, none is tried, and what the forge refused before tells nothing of the next. */
function forgetRefusedStaging({ record }: DecisionContext): void {
  if (record.entries.length === 0) delete record.stagingRefused;
}

/** A halt lasts until a person switches the queue on again. */
function endHalt(pass: DecisionContext): void {
  const { record, s } = pass;
  if (record.halted === null) return;
  if (isLifted(record.halted, s.repo)) record.halted = null;
  else raiseStandstill(pass, 'tree_mismatch');
}

/**
 * Not before all that was posted under the old context is done with. Mere words on a head that cannot be written are tried for hours,
 * and nothing is staged meanwhile: they keep their context, and the change does not wait for them.
 */
function adoptContext(pass: DecisionContext): void {
  const { record, s } = pass;
  const isWritten = record.pendingStatuses.every((status) =>
    status.takesBack === true ? isNoneToAwait(pass, status) : status.retryAt !== undefined,
  );
  const idle = record.batches.length === 0 && isWritten;
  if (record.context === s.repo.statusContext || !idle || !endPromises(record)) return;
  const { context: before } = record;
  record.context = s.repo.statusContext;
  for (const entry of record.entries) markOfBefore(entry, before);
}

/** Told anew: words that say what an author has to do, and those that took the place of a promise. */
function markOfBefore(entry: QueueEntry, before: string): void {
  const { head, said } = entry;
  if (said?.head !== head) return;
  if (said.state === 'error' || said.description === describeOldContext())
    entry.said = { ...said, ofContext: said.ofContext ?? before };
}

/**
 * Refusals and bounces say what an author has to do, and no other rule says them again, nor why one stands aside. A bounce is read
 * back where this record is lost (D-05). Under the context of before nothing would tell that they are over, so they end there. As many
 * at once as can be written, the others in the next looks.
 */
function sayUnderNewContext(pass: DecisionContext): void {
  const { record, s } = pass;
  if (record.context !== s.repo.statusContext) return;
  for (const entry of record.entries) {
    const { pr, head, said } = entry;
    if (said?.ofContext === undefined) continue;
    if (arePendingStatusesFull(record, WORDS_OF_A_CHANGE)) return;
    delete entry.said;
    if (said.head !== head) continue;
    if (said.state !== 'error') {
      sayAsideAgain(pass, entry);
      continue;
    }
    sayError(pass, entry, said.description);
    if (said.ofContext !== record.context) endUnder(record, said.ofContext, { pr, head });
  }
}

function isEnd(description: string): boolean {
  return isDeparture(description) || isLandingTold(description);
}

/**
 * Under the old context no later look says how a pull request left, and that context may be used again. The new one is told anew.
 *
 * @returns false: there are more than can be told at once
 */
function endPromises(record: QueueRecord): boolean {
  const { context } = record;
  const description = describeOldContext();
  for (const entry of record.entries) {
    const { pr, head: sha, said } = entry;
    if (said?.head !== sha || said.state !== 'pending' || isEnd(said.description)) continue;
    if (said.description === description) continue;
    if (arePendingStatusesFull(record)) return false;
    entry.said = { head: sha, state: 'pending', description };
    endUnder(record, context, { pr, head: sha });
  }
  return true;
}

/** Words stand on the commit, which several may have. Those in whose place a success is taken back take it back as well. */
function endUnder(
  record: QueueRecord,
  context: string,
  { pr, head: sha }: Pick<QueueEntry, 'pr' | 'head'>,
): void {
  const words = { state: 'pending' as const, description: describeOldContext() };
  const isUnder = (waiting: PendingStatus): boolean => isUnderContext({ context }, sha, waiting);
  const under = record.pendingStatuses.find(isUnder);
  if (under?.description === words.description) return;
  const ended =
    under?.takesBack === true ? { ...under, ...words } : { pr, sha, context, ...words, targetUrl: null };
  record.pendingStatuses = [...record.pendingStatuses.filter((waiting) => !isUnder(waiting)), ended];
}
