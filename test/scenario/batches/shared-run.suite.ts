import { endingOf, expectHonestEnd, GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const SHARED = 'shared.txt';
const HOUR_MS = 3_600_000;

/** A member that conflicts ends its batch there; those behind it come on top, and one gate run speaks for both (decision 0259). */
export function describeSharedRun(
  level: string,
  createWorld: (options?: WorldOptions) => Promise<World>,
): void {
  /** `a`, `b`, one that conflicts with `b`, and those that are named. */
  async function givenConflict(
    behind: readonly string[],
    { options, first = 'a\n' }: { readonly options?: WorldOptions; readonly first?: string } = {},
  ) {
    const world = await createWorld(options);
    await givenProject(world.forge, { [SHARED]: 'one\n' });
    const a = await givenScheduled(world.forge, 'a', first);
    const b = await givenScheduled(world.forge, 'b', 'from b\n', { path: SHARED });
    const conflicting = await givenScheduled(world.forge, 'conflicting', 'another\n', { path: SHARED });
    const others: number[] = [];
    for (const name of behind)
      others.push(await givenScheduled(world.forge, name, name.startsWith('bad') ? 'BAD\n' : `${name}\n`));
    return { world, a, b, conflicting, others, all: [a, b, conflicting, ...others] };
  }

  const batchesOf = async (world: World) =>
    (await world.record()).batches.map(({ members }) => members.map(({ pr }) => pr));

  describe(`${level}: a gate run for two batches`, () => {
    test.each([1, 4, 16])('fan-out %i: those behind a conflict land by the same gate run', async (fanout) => {
      const { world, a, b, conflicting, others, all } = await givenConflict(['d', 'e'], {
        options: { repo: { bisectFanout: fanout } },
      });
      const [d = 0, e = 0] = others;
      await world.drain();
      expect(await endingOf(world, all)).toEqual({ landed: [a, b, d, e], bounced: [] });
      const head = (await world.forge.pull(conflicting)).headSha;
      expect((await world.forge.status(head, 'mq'))?.description).toMatch(/^refused: conflicts/);
      const rows = (await world.rows()).filter(({ nodeId }) => nodeId === 'r');
      if (fanout < 16) {
        expect(rows.map(({ prs }) => prs)).toEqual(
          expect.arrayContaining([
            [a, b],
            [d, e],
          ]),
        );
        const [run] = world.forge.runs();
        const lower = rows.find(({ prs }) => prs.includes(a));
        expect(lower).toMatchObject({
          outcome: 'success',
          gateVerdict: 'success',
          gateSource: 'cached',
          gateRuns: 0,
          stagingSha: run?.sha,
        });
        expect(world.forge.runs()).toHaveLength(1);
      }
      await expectHonestEnd(world, all);
    });

    test('while its run goes on both are shown with it, and the one that conflicts waits for what is ahead', async () => {
      const { world, conflicting, others, a, b } = await givenConflict(['d']);
      world.forge.judge = () => 'hold';
      await world.drain({ maxMs: 60_000, until: async () => world.forge.runs().length === 1 });
      await world.reconcile();
      expect(await batchesOf(world)).toEqual([[a, b], others]);
      const { deferred } = await world.record();
      expect(deferred).toMatchObject([{ pr: conflicting, reason: 'conflict_ahead' }]);
      const rows = await world.rows();
      expect(rows.map(({ phase }) => phase)).toEqual(['waiting_gate', 'waiting_gate']);
      expect(new Set(rows.map(({ runUrl }) => runUrl)).size).toBe(1);
      expect(rows[0]?.runUrl).not.toBeNull();
      expect(world.forge.runs()).toHaveLength(1);
    });

    test('one that was ready before the batch below was made does not linger, and lands by the same gate run', async () => {
      const { world, a, b, others } = await givenConflict(['d'], {
        options: { repo: { bisectFanout: 1, batchLingerSeconds: 3_600, batchTarget: 5 } },
      });
      await world.reconcile();
      await world.clock.advance(60_000);
      // With this one as many are ready as the target says.
      await givenScheduled(world.forge, 'e');
      await world.drain({ maxMs: HOUR_MS / 2 });
      expect(world.forge.merges().map(({ pr }) => pr)).toEqual([a, b, ...others]);
      expect(world.forge.runs()).toHaveLength(1);
    });

    test('the upper batch fails: the lower one lands by a gate run of its own, and the culprit is bounced', async () => {
      const { world, a, b, others, all } = await givenConflict(['bad', 'e']);
      const [bad = 0, e = 0] = others;
      await world.drain();
      expect(await endingOf(world, all)).toEqual({ landed: [a, b, e], bounced: [bad] });
      await expectHonestEnd(world, all);
    });

    test('the lower batch is bad: its culprit is bounced, and all others land', async () => {
      const { world, a, b, others, all } = await givenConflict(['d', 'e'], { first: 'BAD\n' });
      await world.drain();
      expect(await endingOf(world, all)).toEqual({ landed: [b, ...others], bounced: [a] });
      await expectHonestEnd(world, all);
    });

    test('all behind it conflict as well: the lower batch has a gate run of its own', async () => {
      const { world, a, b, conflicting } = await givenConflict([]);
      const again = await givenScheduled(world.forge, 'again', 'a third\n', { path: SHARED });
      await world.drain();
      const all = [a, b, conflicting, again];
      expect(await endingOf(world, all)).toEqual({ landed: [a, b], bounced: [] });
      expect(world.forge.runs()).toHaveLength(1);
      await expectHonestEnd(world, all);
    });

    test('what comes on top changes the gate: it proves nothing below, which has a gate run of its own', async () => {
      const { world, a, b, conflicting } = await givenConflict([]);
      const changed = GATE_FILE.replace('\n', '\n# changed\n');
      const gate = await givenScheduled(world.forge, 'gate', changed, { path: GATE_PATH });
      const behind = await givenScheduled(world.forge, 'behind');
      await world.drain();
      const all = [a, b, conflicting, gate, behind];
      expect((await endingOf(world, all)).landed).toEqual(expect.arrayContaining([a, b, gate, behind]));
      await expectHonestEnd(world, all);
    });

    test('the forge does not build what comes on top: the lower batch does not wait for it', async () => {
      const { world, a, b } = await givenConflict(['d']);
      world.forge.fault = ({ path, about }) =>
        path.endsWith('diffpatch') && about?.includes('src/d') ? { status: 500 } : null;
      const landed = () => world.forge.merges().map(({ pr }) => pr);
      await world.drain({ maxMs: HOUR_MS, until: () => landed().length === 2 });
      expect(landed()).toEqual([a, b]);
    });
  });
}
