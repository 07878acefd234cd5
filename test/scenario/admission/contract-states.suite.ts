import {
  endingOf,
  expectHonestEnd,
  GATE_FILE,
  GATE_PATH,
  givenProject,
  givenScheduled,
  judgeByContent,
} from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;

/** Takes the gate of a repository away, and gives it back. */
export interface GateSwitch {
  readonly remove: (world: World) => Promise<unknown>;
  readonly restore: (world: World) => Promise<unknown>;
}

const GATE_FILE_SWITCH: GateSwitch = {
  remove: (world) => world.forge.pushToBase({ 'README.md': 'no gate here\n', [GATE_PATH]: null }),
  restore: (world) => world.forge.pushToBase({ [GATE_PATH]: GATE_FILE }),
};

/** Three that are scheduled, in their order, which is not that of their numbers. */
async function givenLine(world: World): Promise<readonly number[]> {
  const [first, ...others] = [
    await givenScheduled(world.forge, 'a'),
    await givenScheduled(world.forge, 'b'),
    await givenScheduled(world.forge, 'c'),
  ];
  await world.forge.cancelSchedule(first);
  await world.clock.advance(5_000);
  await world.forge.schedule(first);
  return [...others, first];
}

/** Each that waits or is staged, in order, with the time that gives it its place. */
async function placesOf(world: World): Promise<readonly (readonly [number, number])[]> {
  return (await world.record()).entries.map(({ pr, queuedAt }) => [pr, queuedAt] as const);
}

async function finishOpenRuns({ forge }: World): Promise<void> {
  const open = forge.runs().filter(({ state }) => state === 'running' || state === 'waiting');
  for (const { id } of open) await forge.finishRun(id, 'success');
}

/** Every row of "Pull request moves through the queue" and of "Queue batch outcomes", as stories on one forge level. */
export function describeContractStates(
  level: string,
  createWorld: (options?: WorldOptions) => Promise<World>,
  gate: GateSwitch = GATE_FILE_SWITCH,
): void {
  describe(`${level}: pull request moves through the queue`, () => {
    test('eligible, review policy not met: refused at admission, no staging and no run; admitted once approved (A29)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      await world.forge.setProtection({ requiredApprovals: 1 });
      const pr = await givenScheduled(world.forge, 'a');
      world.forge.clearCalls();
      await world.reconcile();
      const head = (await world.forge.pull(pr)).headSha;
      expect((await world.forge.status(head, 'mq'))?.description).toMatch(/^refused: required approvals/);
      expect(world.forge.runs()).toHaveLength(0);
      expect(world.forge.calls().filter((call) => call.write && call.by === 'mq-bot')).toHaveLength(1);
      await world.reconcile();
      expect(world.forge.calls().filter((call) => call.write && call.by === 'mq-bot')).toHaveLength(1);
      await world.forge.review(pr, 'reviewer', 'approve');
      await world.drain();
      expect((await endingOf(world, [pr])).landed).toEqual([pr]);
      await expectHonestEnd(world, [pr]);
    });

    test('eligible and admissible: staged in a batch on mq/<base>/staging, one gate run', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      await world.reconcile();
      await world.clock.advance(5_000);
      await world.reconcile();
      expect(world.forge.runs().map((run) => run.branch)).toEqual(['mq/main/staging']);
      const [row] = await world.rows();
      expect(row).toMatchObject({
        nodeId: 'r',
        prs,
        outcome: 'running',
        phase: 'waiting_gate',
        parentId: null,
      });
      expect(row?.stagingTree).toBe(await world.forge.tree(await world.forge.tip('mq/main/staging')));
    });

    test('staged, gate succeeds: success on each head in order, the forge merges, a receipt each (A1, A9)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const prs = await givenLine(world);
      await world.drain();
      expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
      expect(world.forge.runs()).toHaveLength(1);
      const [row] = await world.rows();
      expect(row).toMatchObject({ outcome: 'success', phase: null });
      const receipts = row?.actions.map((action) => action.receipt);
      expect(receipts?.map((receipt) => receipt?.tree)).toEqual(
        world.forge.merges().map((merge) => merge.tree),
      );
      expect(receipts?.map((receipt) => receipt?.mergeCommit)).toEqual(
        world.forge.merges().map((merge) => merge.mergeCommit),
      );
      await expectHonestEnd(world, prs);
    });

    test('staged alone, gate fails: bounced after a confirming run on a proven base; stays open and blocked (A13)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const pr = await givenScheduled(world.forge, 'bad', 'BAD\n');
      const bounces = async () => (await world.events()).filter((event) => event.event === 'pr_bounced');
      await world.drain({ until: async () => (await bounces()).length > 0 });
      // At once, by its own words: a later look would only say again what another writer wrote over.
      const { headSha } = await world.forge.pull(pr);
      expect(await world.forge.status(headSha, 'mq')).toMatchObject({
        state: 'error',
        description: expect.stringMatching(/^bounced: the gate failed twice/),
      });
      await world.drain();
      expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
      expect((await world.forge.pull(pr)).state).toBe('open');
      const root = (await world.rows()).find((row) => row.nodeId === 'r');
      expect(root).toMatchObject({ outcome: 'bounced', attempt: 2 });
      const trees = world.forge
        .runs()
        .filter((run) => run.state === 'failure')
        .map((run) => run.tree);
      expect(trees).toHaveLength(2);
      expect(new Set(trees).size).toBe(1);
      expect(await bounces()).toHaveLength(1);
      await expectHonestEnd(world, [pr]);
    });

    test('staged batch, gate fails: bisected until the failing one is isolated; all others land in order (A14)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const prs: number[] = [];
      for (const name of ['a', 'b', 'bad', 'd']) {
        prs.push(await givenScheduled(world.forge, name, name === 'bad' ? 'BAD\n' : `${name}\n`));
      }
      await world.drain();
      expect(await endingOf(world, prs)).toEqual({ landed: [prs[0], prs[1], prs[3]], bounced: [prs[2]] });
      expect((await world.rows()).find((row) => row.nodeId === 'r' && row.prs.length === 4)?.outcome).toBe(
        'bisected',
      );
      await expectHonestEnd(world, prs);
    });

    test('conflict while building: split at the conflict point, earlier ones keep their place (A17)', async () => {
      const world = await createWorld();
      await givenProject(world.forge, { 'shared.txt': 'one\n' });
      const a = await givenScheduled(world.forge, 'a');
      const b = await givenScheduled(world.forge, 'b', 'from b\n', { path: 'shared.txt' });
      const c = await givenScheduled(world.forge, 'c', 'from c\n', { path: 'shared.txt' });
      const d = await givenScheduled(world.forge, 'd');
      await world.drain();
      expect((await world.rows()).map(({ prs }) => prs)).toContainEqual([a, b]);
      expect(await endingOf(world, [a, b, c, d])).toEqual({ landed: [a, b, d], bounced: [] });
      const head = (await world.forge.pull(c)).headSha;
      expect((await world.forge.status(head, 'mq'))?.description).toMatch(/^refused: conflicts/);
      await expectHonestEnd(world, [a, b, c, d]);
    });

    test('queued, head changes: error on the old head, re-queued; the push of one who may merge renews the schedule, and the others keep their order (A18)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      const [a = 0] = prs;
      await world.reconcile();
      const oldHead = (await world.forge.pull(a)).headSha;
      const newHead = await world.forge.pushToPullRequest(a, { 'src/a.txt': 'changed\n' });
      await world.clock.advance(10_000);
      world.forge.judge = () => 'success';
      await world.drain();
      expect(await world.forge.status(oldHead, 'mq')).toMatchObject({
        state: 'error',
        description: expect.stringMatching(/^requeued: head changed/),
      });
      expect((await world.rows()).at(-1)).toMatchObject({
        outcome: 'invalidated',
        terminalReason: 'candidate_changed',
      });
      expect(
        world.forge
          .merges()
          .map((merge) => [merge.pr, merge.head])
          .at(0),
      ).toEqual([a, newHead]);
      expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
      await expectHonestEnd(world, prs);
    });

    test('queued, auto-merge cancelled: skipped, the rest re-queued in the same order (A19)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await givenLine(world);
      await world.reconcile();
      const before = await placesOf(world);
      await world.forge.cancelSchedule(prs[1] ?? 0);
      await world.clock.advance(10_000);
      await world.reconcile();
      expect(await placesOf(world)).toEqual(before.filter(([pr]) => pr !== prs[1]));
      await finishOpenRuns(world);
      world.forge.judge = () => 'success';
      await world.drain();
      expect(world.forge.merges().map((merge) => merge.pr)).toEqual([prs[0], prs[2]]);
      const torn = (await world.rows()).at(-1);
      expect(torn?.outcome).toBe('invalidated');
      expect(torn?.actions.map((action) => action.action)).toEqual(['requeued', 'skipped', 'requeued']);
      await expectHonestEnd(world, prs);
    });

    test('staged, gate run never appears: still staged, nothing is posted or pushed again (A20)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.judge = () => 'never';
      const pr = await givenScheduled(world.forge, 'a');
      await world.reconcile();
      world.forge.clearCalls();
      await world.drain({ maxMs: 45 * MINUTE_MS });
      expect(world.forge.calls().filter((call) => call.write)).toEqual([]);
      expect((await world.rows())[0]).toMatchObject({ outcome: 'running', phase: 'waiting_gate' });
      expect(world.log.some((line) => line.fields.alarm === 'gate_phase_age')).toBe(true);
      expect(
        (await world.forge.status((await world.forge.pull(pr)).headSha, 'mq'))?.state ?? 'none',
      ).not.toBe('error');
    });

    test('landing, native merge times out once: restored, batch retested, then lands (A21)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      let lost = true;
      world.forge.mergeBehaviour = () => (lost ? { kind: 'lost' } : { kind: 'now' });
      await world.drain({ maxMs: 9 * MINUTE_MS });
      expect((await world.rows())[0]).toMatchObject({ outcome: 'running', phase: 'waiting_merge' });
      await world.drain({
        until: async () => (await world.events()).some((event) => event.reason === 'merge_timeout'),
      });
      lost = false;
      await world.drain();
      // It may hold up for as long again what is built on it, so it is tested alone, behind the other one.
      expect((await endingOf(world, prs)).landed).toEqual(prs.toReversed());
      expect(world.forge.runs()).toHaveLength(3);
      expect((await world.rows()).at(-1)).toMatchObject({
        outcome: 'error',
        terminalReason: 'merge_timeout',
      });
      await expectHonestEnd(world, prs);
    });

    test('landing, native merge times out twice on the same head: bounced, the others land (A21)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      world.forge.mergeBehaviour = (pr) => (pr === prs[0] ? { kind: 'lost' } : { kind: 'now' });
      await world.drain();
      expect(await endingOf(world, prs)).toEqual({ landed: [prs[1]], bounced: [prs[0]] });
      const head = (await world.forge.pull(prs[0] ?? 0)).headSha;
      expect((await world.forge.status(head, 'mq'))?.description).toMatch(
        /^bounced: the forge twice did not complete/,
      );
      await expectHonestEnd(world, prs);
    });
  });

  describe(`${level}: queue batch outcomes`, () => {
    test('running, then success', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const pr = await givenScheduled(world.forge, 'a');
      await world.reconcile();
      await world.clock.advance(5_000);
      await world.reconcile();
      expect((await world.rows())[0]).toMatchObject({ outcome: 'running', phase: 'waiting_gate' });
      const [run] = world.forge.runs();
      await world.forge.finishRun(run?.id ?? '', 'success');
      await world.drain();
      expect((await world.rows())[0]).toMatchObject({ outcome: 'success', phase: null });
      await expectHonestEnd(world, [pr]);
    });

    test('bisected, bounced, cached: the last half reuses its parent’s failing run and has no branch (A27)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const a = await givenScheduled(world.forge, 'a');
      const bad = await givenScheduled(world.forge, 'bad', 'BAD\n');
      const seen: string[] = [];
      await world.drain({
        until: async () => {
          const half = (await world.rows()).find((row) => row.nodeId === 'r.2');
          if (half?.gateSource === 'cached' && half.outcome === 'held_failure') {
            const branches = (await world.forge.branches()).filter((each) => each.includes('r.2'));
            expect([half.stagingBranch, branches]).toEqual([null, []]);
          }
          if (half?.gateSource === 'cached') seen.push(half.outcome);
          return (await world.forge.pull(a)).merged && half?.outcome === 'bounced';
        },
      });
      expect(seen).toContain('held_failure');
      const rows = await world.rows();
      const root = rows.find((row) => row.nodeId === 'r');
      // Each has had a gate run of its own by now.
      expect(root).toMatchObject({ outcome: 'bisected', gateSource: null });
      expect(rows.find((row) => row.nodeId === 'r.1')).toMatchObject({
        outcome: 'success',
        parentId: root?.id,
        gateSource: null,
      });
      expect(rows.find((row) => row.nodeId === 'r.2')).toMatchObject({
        outcome: 'bounced',
        parentNodeId: 'r',
        gateSource: null,
      });
      await world.drain();
      await expectHonestEnd(world, [a, bad]);
    });

    test('error: a cancelled run blames no pull request and is tried again after a back-off (A22)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      let runs = 0;
      world.forge.judge = () => {
        runs += 1;
        return runs === 1 ? 'cancelled' : 'success';
      };
      const pr = await givenScheduled(world.forge, 'a');
      await world.drain();
      const rows = await world.rows();
      expect(rows.map((row) => row.outcome).sort()).toEqual(['error', 'success']);
      expect(rows.find((row) => row.outcome === 'success')?.attempt).toBe(2);
      expect((await endingOf(world, [pr])).landed).toEqual([pr]);
      await expectHonestEnd(world, [pr]);
    });

    test('operational_error: infrastructure that stays broken ends honestly and never bounces (A22)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.judge = () => 'cancelled';
      const pr = await givenScheduled(world.forge, 'a');
      await world.drain({
        until: async () => (await world.rows()).some((row) => row.outcome === 'operational_error'),
      });
      const last = (await world.rows()).find((row) => row.outcome === 'operational_error');
      expect(last?.terminalReason).toBe('gate_infrastructure');
      // Its own code, for as long as nothing is tried.
      expect((await world.store.loadReport(last?.repoId ?? ''))?.errorCode).toBe('gate_infrastructure');
      expect((await world.reconcile())?.errorCode).toBe('gate_infrastructure');
      expect((await world.reconcile())?.errorCode).toBe('gate_infrastructure');
      expect(last?.actions.map((action) => action.action)).toEqual(['requeued']);
      expect((await endingOf(world, [pr])).bounced).toEqual([]);
      world.forge.judge = () => 'success';
      await world.drain();
      expect((await endingOf(world, [pr])).landed).toEqual([pr]);
      await expectHonestEnd(world, [pr]);
    });

    test('error: no gate is named, nothing is pushed under mq/** and no pull request is blamed', async () => {
      const world = await createWorld();
      await gate.remove(world);
      const pr = await givenScheduled(world.forge, 'a');
      const report = await world.reconcile();
      expect(report?.errorCode).toBe('gate_missing');
      await world.reconcile();
      expect(world.forge.runs()).toEqual([]);
      expect((await endingOf(world, [pr])).bounced).toEqual([]);
      await gate.restore(world);
      await world.drain();
      expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    });

    test('held_failure and superseded: fan-out 6, the earliest failing cut decides, later nodes are replaced and decide nothing (A26)', async () => {
      const world = await createWorld({ repo: { bisectFanout: 6 } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs: number[] = [];
      for (let index = 1; index <= 6; index += 1) {
        prs.push(await givenScheduled(world.forge, `p${index}`, index === 2 ? 'BAD\n' : `p${index}\n`));
      }
      await world.reconcile();
      await world.clock.advance(5_000);
      const [root] = world.forge.runs();
      await world.forge.finishRun(root?.id ?? '', 'failure');
      await world.reconcile();
      await world.clock.advance(5_000);
      await world.reconcile();
      const cuts = world.forge.runs().filter((run) => run.state === 'running' || run.state === 'waiting');
      expect(cuts).toHaveLength(2);
      await world.forge.finishRun(cuts.at(-1)?.id ?? '', 'failure');
      await world.reconcile();
      const held = (await world.rows()).filter((row) => row.outcome === 'held_failure');
      expect(held.length).toBeGreaterThan(0);
      expect((await world.rows()).filter((row) => row.outcome === 'superseded').length).toBeGreaterThan(0);
      world.forge.judge = judgeByContent;
      for (const run of world.forge
        .runs()
        .filter((one) => one.state === 'running' || one.state === 'waiting')) {
        const files = await world.forge.readFiles(run.sha);
        await world.forge.finishRun(run.id, judgeByContent(files));
      }
      await world.drain();
      const ending = await endingOf(world, prs);
      expect(ending.bounced).toEqual([prs[1]]);
      // The pull requests behind the suspects did not wait for them.
      expect([...ending.landed].sort((x, y) => x - y)).toEqual(prs.filter((pr) => pr !== prs[1]));
      await expectHonestEnd(world, prs);
    });

    test('held_success: a later proven interval waits while an earlier one is landing (A25)', async () => {
      const world = await createWorld({ repo: { bisectFanout: 6 } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs: number[] = [];
      for (let index = 1; index <= 6; index += 1) {
        prs.push(await givenScheduled(world.forge, `p${index}`, index === 6 ? 'BAD\n' : `p${index}\n`));
      }
      await world.reconcile();
      await world.clock.advance(5_000);
      await world.forge.finishRun(world.forge.runs()[0]?.id ?? '', 'failure');
      await world.reconcile();
      await world.clock.advance(5_000);
      await world.reconcile();
      world.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 90_000 });
      const cuts = world.forge.runs().filter((run) => run.state === 'running' || run.state === 'waiting');
      for (const cut of cuts) await world.forge.finishRun(cut.id, 'success');
      world.forge.judge = judgeByContent;
      await world.reconcile();
      expect((await world.rows()).map((row) => row.outcome)).toContain('held_success');
      world.forge.mergeBehaviour = () => ({ kind: 'now' });
      await world.drain();
      expect(await endingOf(world, prs)).toEqual({ landed: prs.slice(0, 5), bounced: [prs[5]] });
      await expectHonestEnd(world, prs);
    });

    test('invalidated: a person pushes to the base while the batch is gated; members keep their order (A23)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await givenLine(world);
      await world.reconcile();
      const before = await placesOf(world);
      await world.forge.pushToBase({ 'other.txt': 'pushed\n' });
      await world.reconcile();
      expect(await placesOf(world)).toEqual(before);
      await finishOpenRuns(world);
      world.forge.judge = () => 'success';
      await world.drain();
      expect((await world.rows()).at(-1)).toMatchObject({
        outcome: 'invalidated',
        terminalReason: 'base_advanced',
      });
      expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
      await expectHonestEnd(world, prs);
    });
  });
}
