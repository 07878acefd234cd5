import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import type { ForgeControl } from '../support/forge-control.ts';
import type { World } from './world.ts';

export const GATE_PATH = '.forgejo/workflows/mq-gate.yaml';
export const GATE_FILE =
  'on:\n  push:\n    branches: ["mq/**"]\njobs:\n  gate:\n    steps:\n      - run: test\n';

/** A base with the gate file, in the folder of this forge, and a few files; the gate passes while no file says BAD and no two say CLASH. */
export async function givenProject(
  forge: ForgeControl,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  const begun = await forge.readFiles(await forge.tip(forge.base));
  const gatePath = [...begun.keys()].find((path) => path.endsWith('/mq-gate.yaml')) ?? GATE_PATH;
  await forge.pushToBase({ [gatePath]: GATE_FILE, 'README.md': 'hello\n', ...files });
  forge.judge = judgeByContent;
}

/** BAD fails alone. Two files that say CLASH fail together. A file that says NEEDS:x fails without file x. */
export function judgeByContent(files: ReadonlyMap<string, string>): 'success' | 'failure' {
  let clashes = 0;
  for (const [path, content] of files) {
    if (path.includes('/workflows/')) continue;
    if (content.includes('BAD') && !files.has('healed')) return 'failure';
    if (content.includes('CLASH')) clashes += 1;
    const needed = /NEEDS:(\S+)/.exec(content)?.[1];
    if (needed !== undefined && !files.has(needed)) return 'failure';
  }
  return clashes >= 2 ? 'failure' : 'success';
}

/** Opens and schedules one pull request that writes one file. */
export async function givenScheduled(
  forge: ForgeControl,
  name: string,
  content = `${name}\n`,
  options: { readonly path?: string; readonly style?: 'merge' | 'squash' | 'rebase' } = {},
): Promise<number> {
  const pr = await forge.openPullRequest({
    branch: name,
    title: `Add ${name}`,
    files: { [options.path ?? `src/${name}.txt`]: content },
  });
  await forge.schedule(pr, options.style ?? 'squash');
  return pr;
}

/** A pull request of one person that another one, `dev`, scheduled, and whose gate run has begun. */
export async function givenRunForAnother(world: World): Promise<number> {
  const files = { 'src/p.txt': 'p\n' };
  const pr = await world.forge.openPullRequest({ branch: 'p', files, author: 'ann' });
  await world.clock.advance(5_000);
  await world.forge.schedule(pr, 'squash');
  await world.drain({ until: async () => world.forge.runs().length > 0 });
  return pr;
}

/** Why it was refused, the newest first. */
export async function refusalsOf(world: World, pr: number): Promise<readonly (string | null)[]> {
  const events = await world.events();
  return events.filter((each) => each.pr === pr && each.event === 'pr_refused').map(({ reason }) => reason);
}

export interface Ending {
  readonly landed: readonly number[];
  readonly bounced: readonly number[];
}

/** How it ended, as the forge has it: merged, and open with a bounce written on its head. */
export async function endingOf(world: World, prs: readonly number[]): Promise<Ending> {
  const bounced: number[] = [];
  for (const pr of prs) {
    const pull = await world.forge.pull(pr);
    if (pull.merged) continue;
    const status = await world.forge.status(pull.headSha, 'mq');
    if (status?.state === 'error' && status.description.startsWith('bounced:')) bounced.push(pr);
  }
  return { landed: world.forge.merges().map((merge) => merge.pr), bounced };
}

/**
 * The independent judge: reads the forge's own log and nothing of the engine. Every merge into the base must have a
 * tree that stands in the chain of a gate run that ended in success: a run on that tree, or on a tree that later
 * merges completed from it (the tip of a batch is what is gated).
 */
export async function unprovenLandings(forge: ForgeControl): Promise<readonly number[]> {
  const green = new Set(
    forge
      .runs()
      .filter((run) => run.state === 'success')
      .map((run) => run.tree),
  );
  const unproven: number[] = [];
  const merges = forge.merges();
  for (let index = 0; index < merges.length; index += 1) {
    const merge = merges[index];
    if (merge === undefined) continue;
    // A member inside a batch: the tip of the unbroken chain of merges above it must be green.
    let proven = false;
    let parent: string | null = null;
    for (const later of merges.slice(index)) {
      if (parent !== null && later.firstParent !== parent) break;
      parent = later.mergeCommit;
      if (green.has(later.tree)) {
        proven = true;
        break;
      }
    }
    if (!proven) unproven.push(merge.pr);
  }
  return unproven;
}

/** A24: at rest no open pull request carries a `success` of ours. */
export async function staleSuccesses(
  forge: ForgeControl,
  prs: readonly number[],
): Promise<readonly number[]> {
  const stale: number[] = [];
  for (const pr of prs) {
    const pull = await forge.pull(pr);
    if (pull.state !== 'open') continue;
    if ((await forge.status(pull.headSha as CommitSha, 'mq'))?.state === 'success') stale.push(pr);
  }
  return stale;
}

/** Promises that hold at the end of every story. */
export async function expectHonestEnd(world: World, prs: readonly number[]): Promise<void> {
  expect(await unprovenLandings(world.forge)).toEqual([]);
  expect(await staleSuccesses(world.forge, prs)).toEqual([]);
  const rows = await world.rows();
  for (const row of rows) {
    expect({
      id: row.nodeId,
      outcome: row.outcome,
      resolved: row.resolvedAt !== null,
      phase: row.phase,
    }).toMatchObject(row.outcome === 'running' ? { resolved: false } : { resolved: true, phase: null });
    if (row.outcome !== 'running' && row.outcome !== 'held_success' && row.outcome !== 'held_failure') {
      expect(row.actions.map((action) => action.pr)).toEqual(row.prs);
    }
    const parent = rows.find(({ id }) => id === row.parentId);
    const isBelowItsRun = parent?.batchId === row.batchId && parent.id !== row.id;
    expect([row.nodeId, row.parentId === null || isBelowItsRun]).toEqual([row.nodeId, true]);
    if (row.outcome === 'superseded') {
      expect(
        row.actions.filter((action) => action.action === 'landed' || action.action === 'bounced'),
      ).toEqual([]);
    }
  }
  const record = await world.record();
  if (record.batches.length === 0) {
    expect(rows.filter((row) => ['running', 'held_success', 'held_failure'].includes(row.outcome))).toEqual(
      [],
    );
    const leftovers = (await world.forge.branches()).filter((branch) => branch.startsWith('mq'));
    expect(leftovers).toEqual([]);
  }
}

/** The queue's status on the head of a pull request, as "state: words"; "undefined: undefined" where none stands. */
export async function statusOf({ forge }: Pick<World, 'forge'>, pr: PullRequestNumber): Promise<string> {
  const status = await forge.status((await forge.pull(pr)).headSha, 'mq');
  return `${status?.state}: ${status?.description}`;
}
