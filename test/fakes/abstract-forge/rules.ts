import {
  type BranchProtection,
  type DependencyCount,
  isPass,
  type Review,
} from '#core/domain/forge/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { tryCompileGlob } from '../../../local/forge/globs.ts';
import type { Pull, World } from './world.ts';

const patterns = new Map<string, RegExp | null>();

/** Required contexts are globs in which `*` crosses slashes; null: malformed. */
function contextGlob({ switches }: World, pattern: string): RegExp | null {
  const key = `${switches.globs} ${pattern}`;
  let glob = patterns.get(key);
  if (glob === undefined) {
    glob = tryCompileGlob(pattern, { separator: false, reader: switches.globs });
    patterns.set(key, glob);
  }
  return glob;
}

export function ruleOf(world: World, base: string): BranchProtection | null {
  return world.rules.get(base) ?? null;
}

/** Null: the rule has no list of those who may merge, and the right to write counts. */
export function isOnMergeList(world: World, pull: Pull, login: string): boolean | null {
  const { mergeList, mergeTeams = [] } = ruleOf(world, pull.base) ?? {};
  if (mergeList === undefined) return null;
  return (
    mergeList.includes(login) || mergeTeams.some((team) => world.lenders.get(team)?.members.includes(login))
  );
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
  const hidden = world.switches.hiddenChecks ?? [];
  if (rule.requiredContexts.length + hidden.length === 0) return isMet(latest);
  return [...rule.requiredContexts, ...hidden].every((pattern) => {
    const glob = contextGlob(world, pattern);
    // A malformed one is left out.
    return glob === null || isMet(latest.filter((status) => glob.test(status.context)));
  });
}

/** Why the rule forbids the merge, statuses apart; null when it does not. */
export function findRuleViolation(world: World, pull: Pull): string | null {
  if (countDependencies(world, pull).open > 0 || pull.dependsOnHidden === 'open') return 'open dependencies';
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
  // The forge has no key.
  if (rule.requiresSigned === true) return 'no signature';
  return null;
}

/** As the bot is told of them: a hidden one comes without its state. */
export function countDependencies(world: World, pull: Pull): DependencyCount {
  return {
    open: [...pull.dependsOn].filter((on) => world.openPulls.has(on)).length,
    hidden: pull.dependsOnHidden === null ? 0 : 1,
  };
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
  const globs = (rule.protectedFilePatterns ?? []).map((each) =>
    tryCompileGlob(each, { separator: './', reader: world.switches.globs }),
  );
  if (globs.length === 0) return false;
  return listChangedFiles(world, pull).some((path) =>
    globs.some((glob) => glob?.test(path.toLowerCase()) === true),
  );
}

function isCountedApproval(rule: BranchProtection, review: Review): boolean {
  return review.state === 'approved' && !(rule.ignoreStaleApprovals && review.stale);
}

function isOutdated(world: World, pull: Pull): boolean {
  const tip = world.branches.get(pull.base);
  return tip !== undefined && !world.objects.isAncestor(tip, pull.pullHead);
}
