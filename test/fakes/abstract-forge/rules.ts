import { type BranchProtection, isPass, type Review } from '#core/domain/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { compileGlob } from '../../../local/forge/globs.ts';
import type { Pull, World } from './world.ts';

const patterns = new Map<string, RegExp>();

/** Required contexts are globs in which `*` crosses slashes. */
function matchesContext(pattern: string, context: string): boolean {
  let glob = patterns.get(pattern);
  if (glob === undefined) {
    glob = compileGlob(pattern, { separator: false });
    patterns.set(pattern, glob);
  }
  return glob.test(context);
}

export function ruleOf(world: World, base: string): BranchProtection | null {
  return world.rules.get(base) ?? null;
}

/** Words of state that the forge ranks. */
const KNOWN_STATES = ['pending', 'success', 'error', 'failure', 'warning', 'skipped'];

/** Every required pattern needs a status, and what it finds has to be success or skipped, or a word that the forge lets pass. */
export function requiredStatusesPass(world: World, pull: Pull, sha: CommitSha): boolean {
  const rule = ruleOf(world, pull.base);
  if (rule === null || !rule.statusCheckEnabled) return true;
  const latest = [...(world.statuses.get(sha)?.latest.values() ?? [])];
  const passes = (status: { readonly state: string }): boolean =>
    isPass(status) || (world.switches.passesUnknownWords && !KNOWN_STATES.includes(status.state));
  const isMet = (found: typeof latest): boolean =>
    found.some(({ state }) => world.switches.passesSkippedAlone || state !== 'skipped') &&
    found.every(passes);
  if (rule.requiredContexts.length === 0) return isMet(latest);
  return rule.requiredContexts.every((pattern) =>
    isMet(latest.filter((status) => matchesContext(pattern, status.context))),
  );
}

/** Why the rule forbids the merge, statuses apart; null when it does not. */
export function findRuleViolation(world: World, pull: Pull): string | null {
  if (countOpenDependencies(world, pull) > 0) return 'open dependencies';
  const rule = ruleOf(world, pull.base);
  if (rule === null) return null;
  const counted = pull.reviews.filter((review) => review.official && !review.dismissed);
  const approvals = counted.filter((review) => isCountedApproval(rule, review));
  if (approvals.length < rule.requiredApprovals) return 'not enough approvals';
  if (rule.blockOnRejectedReviews && counted.some((review) => review.state === 'changes_requested')) {
    return 'changes requested';
  }
  if (rule.blockOnOfficialReviewRequests && counted.some((review) => review.state === 'review_requested')) {
    return 'review requested';
  }
  if (rule.blockOnOutdatedBranch && isOutdated(world, pull)) return 'outdated branch';
  if (changesProtectedFile(world, rule, pull)) return 'protected files';
  return null;
}

export function countOpenDependencies(world: World, pull: Pull): number {
  return [...pull.dependsOn].filter((on) => world.openPulls.has(on)).length;
}

/** Paths that a pull request changes since its fork, under their new names. */
export function listChangedFiles(world: World, pull: Pull): readonly string[] {
  const { objects } = world;
  const tip = world.branches.get(pull.base);
  const fork = tip === undefined ? null : objects.mergeBase(tip, pull.pullHead);
  const before = fork === null ? new Map() : objects.treeOf(fork).byPath;
  const after = objects.treeOf(pull.pullHead).byPath;
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) =>
      before.get(path)?.id !== after.get(path)?.id || before.get(path)?.mode !== after.get(path)?.mode,
  );
  const added = new Set(paths.filter((path) => !before.has(path)).map((path) => after.get(path)?.id));
  // Moved unchanged, it is listed where it is now.
  return paths.filter((path) => after.has(path) || !added.has(before.get(path)?.id));
}

function changesProtectedFile(world: World, rule: BranchProtection, pull: Pull): boolean {
  const patterns = (rule.protectedFilePatterns ?? []).map((each) => compileGlob(each, { separator: './' }));
  if (patterns.length === 0) return false;
  return listChangedFiles(world, pull).some((path) =>
    patterns.some((pattern) => pattern.test(path.toLowerCase())),
  );
}

function isCountedApproval(rule: BranchProtection, review: Review): boolean {
  return review.state === 'approved' && !(rule.ignoreStaleApprovals && review.stale);
}

function isOutdated(world: World, pull: Pull): boolean {
  const tip = world.branches.get(pull.base);
  return tip !== undefined && !world.objects.isAncestor(tip, pull.pullHead);
}
