import { endingOf, expectHonestEnd, givenProject, givenScheduled, statusOf } from '../stories.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;
const REFUSED = /^error: refused: git merges it, but the forge calls it a conflict/;
const LINES = Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join('');

/** A base that changes `src/old.txt`, against which git merges these and the forge's check does not. */
export const FORGE_CONFLICTS = {
  mode: { 'src/old.txt': { content: LINES, mode: '100755' } },
  rename: { 'src/old.txt': null, 'src/new.txt': LINES },
} as const;

/** Git merges it; a forge that checks path by path calls the same merge a conflict. */
export function defineForgeConflictTests(
  kind: keyof typeof FORGE_CONFLICTS,
  createWorld: () => Promise<World>,
): void {
  async function givenForgeConflict(world: World): Promise<number> {
    await givenProject(world.forge, { 'src/old.txt': LINES });
    const pr = await world.forge.openPullRequest({ branch: kind, files: FORGE_CONFLICTS[kind] });
    await world.forge.schedule(pr, 'squash');
    await world.forge.pushToBase({ 'src/old.txt': `first\n${LINES}` });
    return pr;
  }

  /** Batches that were torn down because it could not be merged. */
  async function tornDown(world: World, pr: number): Promise<number> {
    const rows = await world.rows();
    return rows.filter(({ prs, terminalReason }) => prs.includes(pr) && terminalReason === 'merge_conflict')
      .length;
  }

  test('costs one batch, however often the base moves, and is told as a conflict once the forge has checked others', async () => {
    const world = await createWorld();
    const pr = await givenForgeConflict(world);
    const others: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      others.push(
        await givenScheduled(world.forge, `a${round}`),
        await givenScheduled(world.forge, `b${round}`),
      );
      await world.drain({ maxMs: 7 * MINUTE_MS });
      if (round === 0)
        expect(await statusOf(world, pr)).toMatch(/^pending: waiting: the forge does not call it mergeable/);
    }
    expect(await tornDown(world, pr)).toBe(1);
    expect([...(await endingOf(world, [pr])).landed].sort((x, y) => x - y)).toEqual(others);
    expect((await endingOf(world, [pr])).bounced).toEqual([]);
    expect(await statusOf(world, pr)).toMatch(REFUSED);
    const told = (await world.events()).filter((each) => each.pr === pr && each.event === 'pr_refused');
    expect(told.map(({ reason }) => reason)).toEqual(['forge_conflict']);
    // One for each round, and the one that was torn down.
    expect(world.forge.runs()).toHaveLength(6 + 1);
    await expectHonestEnd(world, [pr, ...others]);
  });

  test('held or refused, it lands once the base lets the forge merge it', async () => {
    const world = await createWorld();
    const pr = await givenForgeConflict(world);
    await world.drain({ maxMs: 90 * MINUTE_MS });
    expect(await statusOf(world, pr)).toMatch(REFUSED);
    await world.forge.pushToBase({ 'src/old.txt': LINES });
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });

  test('held, it lands with a new head that has merged the base', async () => {
    const world = await createWorld();
    const pr = await givenForgeConflict(world);
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect(await tornDown(world, pr)).toBe(1);
    await world.forge.pushToPullRequest(pr, {
      'src/new.txt': null,
      'src/old.txt': { content: LINES, mode: '100644' },
      'src/own.txt': 'own\n',
    });
    await world.forge.cancelSchedule(pr);
    await world.forge.schedule(pr, 'squash');
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });
}
