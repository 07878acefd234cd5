import { BACKPORT_WINDOW_MS, landingsToCarry } from '#core/domain/pulls/backport.ts';
import type { ActivityEvent } from '#core/domain/queue/batch.ts';
import { backportBranch, DEFAULT_SERVICE_NAME, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';

/** Heads of backports: the pull request, and the branch that it is carried to, whose name may be cut. */
const HEAD = new RegExp(`^${backportBranch(DEFAULT_SERVICE_NAME, 0, '').replace('0-', '')}(\\d+)-.+$`);

/** Whether a backport has the change of the landing, and nothing else, where its branch had what the base had. */
function judgeContents(forge: AbstractForge, pr: number, made: string): readonly string[] {
  const merge = forge
    .journal()
    .flatMap((entry) => (entry.kind === 'merge' ? [entry.merge] : []))
    .find((each) => each.pr === pr);
  const [on] = forge.commit(made).parents;
  if (merge === undefined || on === undefined) return [];
  const filesOf = (sha: string) => forge.readTreeFiles(forge.commit(sha).tree);
  const [before, after] = [filesOf(merge.firstParent), filesOf(merge.mergeCommit)];
  const [ground, carried] = [filesOf(on), filesOf(made)];
  const paths = [...new Set([...before.keys(), ...after.keys(), ...ground.keys(), ...carried.keys()])];
  const changed = paths.filter((path) => before.get(path) !== after.get(path));
  const isPlain = changed.every((path) => ground.get(path) === before.get(path));
  return paths.flatMap((path) => {
    if (changed.includes(path) && !isPlain) return [];
    const expected = changed.includes(path) ? after.get(path) : ground.get(path);
    return carried.get(path) === expected ? [] : [`#${pr} was carried with another ${path}`];
  });
}

/** Breaks of decisions 0247 and 0272, told from the forge alone. */
export function judgeBackports(forge: AbstractForge, bot: string): readonly string[] {
  const problems: string[] = [];
  const pushes = forge.journal().flatMap((entry) => (entry.kind === 'push' ? [entry] : []));
  const branches = new Map<string, string>();
  for (const { branch, by, to } of pushes) {
    const owner = branches.get(branch);
    if (owner === undefined && to !== null) branches.set(branch, by);
    if (
      by === bot &&
      owner !== undefined &&
      owner !== bot &&
      !branch.startsWith(stagingPrefix(DEFAULT_SERVICE_NAME))
    )
      problems.push(`the service moved ${branch} of ${owner}`);
  }
  for (const [branch, owner] of branches) {
    const [, pr] = HEAD.exec(branch) ?? [];
    if (pr === undefined) continue;
    const ours = forge.pullsFrom(branch).filter(({ author }) => author === bot);
    if (ours.length > 1) problems.push(`${ours.length} pull requests of ${branch}`);
    if (owner !== bot && ours.length > 0) problems.push(`a pull request of ${branch}, which is of ${owner}`);
    const isFor = (base: string) => branch === backportBranch(DEFAULT_SERVICE_NAME, Number(pr), base);
    if (!ours.every(({ base }) => isFor(base))) problems.push(`${branch} is proposed for another branch`);
    if (owner === bot && !forge.isMerged(Number(pr))) problems.push(`#${pr} was carried, and has not landed`);
    const last = pushes.findLast((push) => push.branch === branch && push.by === bot && push.to !== null);
    const made = last?.to ?? null;
    if (ours.length > 0 && made !== null) problems.push(...judgeContents(forge, Number(pr), made));
    for (const { number } of ours)
      if (forge.timelineOf(number).some(({ kind, user }) => kind === 'scheduled' && user === bot))
        problems.push(`the service scheduled #${number}`);
  }
  const told = forge.remarks().map(({ pr, body }) => `#${pr} ${/"([^"]+)"/.exec(body)?.[1] ?? body}`);
  for (const each of new Set(told)) {
    const times = told.filter((other) => other === each).length;
    if (times > 1) problems.push(`${each} was told ${times} times`);
  }
  return problems;
}

/** At rest: landings that were not dealt with, although there was time, and what was left behind on the way. */
export function judgeCarried(
  forge: AbstractForge,
  repo: ManagedRepo,
  events: readonly ActivityEvent[],
  now: number,
): readonly string[] {
  const waiting = landingsToCarry(repo, events, now).filter(({ at }) => now - at < BACKPORT_WINDOW_MS / 2);
  const problems = waiting.map(({ pr }) => `the landing of #${pr} was not dealt with`);
  for (const { pr, backports } of repo.backported ?? []) {
    for (const { branch, result, pull } of backports) {
      const of = forge.pullsFrom(backportBranch(DEFAULT_SERVICE_NAME, pr, branch));
      if (result === 'opened' && !of.some(({ number }) => number === pull))
        problems.push(`#${pr} is said to be carried to ${branch} by #${pull}, which does not exist`);
    }
  }
  return problems;
}
