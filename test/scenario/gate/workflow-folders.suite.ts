import { endingOf, expectHonestEnd, GATE_FILE, givenProject, givenScheduled } from '../stories.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;
const OTHER = 'on: push\njobs: {a: {steps: [{run: "true"}]}}\n';

export interface ForgeOfKind {
  readonly kind: 'forgejo' | 'gitea';
  readonly create: () => Promise<World>;
}

/** The gate stands in a folder that Forgejo looks into after another one. */
async function givenLaterGate(world: World, files: Readonly<Record<string, string>> = {}): Promise<void> {
  await givenProject(world.forge);
  await world.forge.pushToBase({
    '.forgejo/workflows/mq-gate.yaml': null,
    '.gitea/workflows/mq-gate.yaml': GATE_FILE,
    ...files,
  });
}

/** Which folder counts depends on the forge: the one that it looks into first, if the tree has it. */
export function defineWorkflowFolderTests(forges: readonly ForgeOfKind[]): void {
  for (const { kind, create } of forges) {
    const reads = kind === 'forgejo';

    test(`a base with the gate in .gitea/workflows and another workflow in .forgejo/workflows on ${kind}: ${
      reads ? 'the gate is hidden and missed' : 'the batch lands'
    }`, async () => {
      const world = await create();
      await givenLaterGate(world, { '.forgejo/workflows/other.yml': OTHER });
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect((await endingOf(world, prs)).landed).toEqual(reads ? [] : prs);
      expect((await world.reconcile())?.errorCode).toBe(reads ? 'gate_missing' : null);
    });

    test(`a pull request that adds .forgejo/workflows beside a gate in .gitea/workflows on ${kind}: ${
      reads ? 'is refused, because it hides the gate' : 'lands'
    }`, async () => {
      const world = await create();
      await givenLaterGate(world);
      const adds = await world.forge.openPullRequest({
        branch: 'adds',
        files: { '.forgejo/workflows/other.yml': OTHER },
      });
      await world.forge.schedule(adds, 'squash');
      const other = await givenScheduled(world.forge, 'a');
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect((await endingOf(world, [adds, other])).landed).toEqual(reads ? [other] : [adds, other]);
      const said = await world.forge.status((await world.forge.pull(adds)).headSha, 'mq');
      if (reads) expect(said?.description).toMatch(/^refused: .*gate workflow/);
      await expectHonestEnd(world, [adds, other]);
    });

    for (const [what, place, file] of [
      ['.forgejo/workflows', '.forgejo/workflows', 'mq-gate.yaml'],
      ['.forgejo', '.forgejo', 'workflows/mq-gate.yaml'],
    ] as const) {
      test(`a submodule at ${what} whose commit this repository has, beside a gate in .gitea/workflows on ${kind}: ${
        reads ? 'is refused, because the forge reads the gate from that commit' : 'is judged by that gate'
      }`, async () => {
        const world = await create();
        await givenLaterGate(world);
        const decoy = await world.forge.openPullRequest({
          branch: 'decoy',
          files: { [file]: `${GATE_FILE}# passes everything\n` },
        });
        const { headSha } = await world.forge.pull(decoy);
        const adds = await world.forge.openPullRequest({
          branch: 'adds',
          files: { [place]: { content: headSha, mode: '160000' } },
        });
        await world.forge.schedule(adds, 'squash');
        const other = await givenScheduled(world.forge, 'a');
        await world.drain({ maxMs: 20 * MINUTE_MS });
        expect((await endingOf(world, [adds, other])).landed).toEqual(reads ? [other] : [adds, other]);
        const said = await world.forge.status((await world.forge.pull(adds)).headSha, 'mq');
        if (reads) expect(said?.description).toMatch(/^refused: .*gate workflow/);
        await expectHonestEnd(world, [adds, other]);
      });
    }
  }
}
