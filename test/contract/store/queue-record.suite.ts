import { randomBytes } from 'node:crypto';
import { batchSortKey } from '#core/adapters/dynamo/rows/keys.ts';
import { LEASE_TAKEOVER_GRACE_MS, QUEUE_DOCUMENT_PLAIN_BYTES_MAX } from '#core/domain/limits.ts';
import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { steadySettingsOf } from '#core/domain/repos/stored-holds.ts';
import type { EngineReport, QueueWrite } from '#core/ports/store.ts';
import { givenReceipt } from '../../builders/queue-record.ts';
import { givenEvent, givenNodeRow } from '../../builders/store-rows.ts';
import { givenObligations, givenQueueView } from '../../builders/told-queue.ts';
import type { World } from './subject.ts';
import { kindOf, TTL_MS, times } from './subject.ts';

function firstWrite(changes: Partial<QueueWrite> = {}): QueueWrite {
  return { document: { line: [1] }, expectedVersion: null, batches: [], events: [], ...changes };
}

function batchOf(repo: ManagedRepo, changes: Partial<NodeRow> = {}): NodeRow {
  return givenNodeRow({ tenantId: repo.tenantId, repoId: repo.id, ...changes });
}

function eventOf(repo: ManagedRepo, changes: Partial<ActivityEvent> = {}): ActivityEvent {
  return givenEvent({ tenantId: repo.tenantId, repoId: repo.id, ...changes });
}

const REPORT: EngineReport = {
  fence: 1,
  at: 1,
  errorCode: null,
  wakeAt: 5,
  logTail: ['landed 1', 'staged 2'],
};

export function describeQueueRecord(world: World): void {
  describe('queue record', () => {
    test('a pause is seen as it is stored now, and none of a repo that is gone', async () => {
      const store = world.store();
      const { repo } = await world.enroll();
      const { pause, freezeWindows, freezeTimeZone, freezeExemptLabels } = repo;
      const before = { pause, freezeWindows, freezeTimeZone, freezeExemptLabels, queueEnabled: true };
      expect(await store.readHolds(repo)).toEqual({ ...before, settings: expect.anything() });
      const paused = { kind: 'pause', reason: 'release', since: 1, until: null } as const;
      await store.updateRepo({ ...repo, pause: paused, freezeExemptLabels: ['hotfix'] });
      expect(await store.readHolds(repo)).toEqual({
        ...before,
        pause: paused,
        freezeExemptLabels: ['hotfix'],
        settings: expect.anything(),
      });
      const current = await store.getRepo(repo.id);
      if (current === null) throw new Error('the repo is gone');
      await store.updateRepo({ ...current, queueEnabled: false });
      expect(await store.readHolds(repo)).toMatchObject({ queueEnabled: false });
      expect(await store.readHolds({ ...repo, id: 'gone' })).toBeNull();
    });

    test('the settings that are no hold are seen as they are stored now', async () => {
      const store = world.store();
      const { repo } = await world.enroll();
      const seen = async () => (await store.readHolds(repo))?.settings;
      await store.updateRepo({ ...repo, freezeExemptLabels: ['hotfix'] });
      expect(await seen()).toEqual(steadySettingsOf(repo));
      const current = await store.getRepo(repo.id);
      if (current === null) throw new Error('the repo is gone');
      await store.updateRepo({ ...current, gate: 'statuses', gateContexts: ['ci/build'] });
      expect(await seen()).toEqual({
        ...steadySettingsOf(repo),
        gate: 'statuses',
        gateContexts: ['ci/build'],
      });
    });

    test('a switch-off that waits for the engine is seen as long as it waits', async () => {
      const store = world.store();
      const { repo } = await world.enroll();
      const seen = async () => (await store.readHolds(repo))?.queueEnabled;
      await store.askStop(repo.id, world.clock.now() + 60_000);
      expect(await seen()).toBe(false);
      await world.clock.advance(60_000);
      expect(await seen()).toBe(true);
    });

    test('events of one repository tell which was stored first, whatever the clocks said', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const store = world.store();
      const ahead = [
        eventOf(repo, { at: 9_000, event: 'pr_queued' }),
        eventOf(repo, { at: 9_000, event: 'pr_staged' }),
      ];
      let expectedVersion = await store.saveQueue(held, repo, firstWrite({ events: ahead }));
      // More writes than one digit counts.
      for (let write = 0; write < 9; write += 1)
        expectedVersion = await store.saveQueue(held, repo, firstWrite({ expectedVersion }));
      const right = [eventOf(repo, { at: 2_000, event: 'pr_landed' })];
      await store.saveQueue(held, repo, firstWrite({ expectedVersion, events: right }));
      const own = await store.listOwnEvents(repo, 10);
      expect(own.map(({ event }) => event)).toEqual(['pr_staged', 'pr_queued', 'pr_landed']);
      const inOrder = own.toSorted((one, other) => ((one.stored ?? '') < (other.stored ?? '') ? -1 : 1));
      expect(inOrder.map(({ event }) => event)).toEqual(['pr_queued', 'pr_staged', 'pr_landed']);
    });

    test('the queue view is kept beside the record, and goes with the repo', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const view = givenQueueView({
        at: 7,
        places: [
          {
            pr: 4,
            title: '<b>',
            head: 'a'.repeat(40),
            queuedAt: 1,
            state: 'waiting',
            reason: 'x',
            until: null,
            forecast: { percent: 40, usualPercent: 5, because: ['ci_failed', 'bounced_before'] },
          },
        ],
        more: 2,
        block: { kind: 'gate', since: 5, until: null, pr: 4, runUrl: 'https://forge.example.org/run' },
        fanout: { inForce: 6, reason: 'learning', runsPer100Landed: null, budget: 125 },
      });
      const obligations = givenObligations({
        at: 7,
        open: true,
        successStands: true,
        inFlight: [4],
        left: { context: 'mq', prs: [5], heads: [{ pr: 4, head: 'b'.repeat(40) }] },
      });
      const version = await world.store().saveQueue(held, repo, firstWrite({ told: { view, obligations } }));
      // A write without one leaves it as it is.
      await world.store().saveQueue(held, repo, firstWrite({ expectedVersion: version }));
      const views = await world.store().readQueueViews([repo.id, 'no-such-repo']);
      expect([...views]).toEqual([[repo.id, view]]);
      expect(await world.store().readObligations(repo.id)).toEqual(obligations);
      expect(await world.store().readObligations('repo-of-another')).toBeNull();
      await world.store().deleteRepo(repo);
      expect((await world.store().readQueueViews([repo.id])).size).toBe(0);
      expect(await world.store().readObligations(repo.id)).toBeNull();
    });

    test('record, batches and events are stored and read back whole', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const landed = batchOf(repo, {
        outcome: 'success',
        phase: null,
        resolvedAt: 2_000,
        createdAt: 1_000,
        gateSource: 'cached',
        actions: [
          { pr: 1, action: 'skipped', stagingSha: null, gateVerdict: 'none', cursor: 1, reason: 'closed' },
          {
            pr: 2,
            action: 'landed',
            stagingSha: 'a'.repeat(40),
            gateVerdict: 'success',
            cursor: 0,
            receipt: givenReceipt({ landedAt: 1_500 }),
          },
        ],
      });
      const running = batchOf(repo, { id: 'batch-2', createdAt: 3_000, parentId: 'batch-1' });
      const events = [
        eventOf(repo, { at: 1_000, event: 'pr_queued' }),
        eventOf(repo, { at: 1_000, event: 'pr_staged' }),
        eventOf(repo, { at: 2_000, pr: 2 }),
      ];
      const document = { line: [1, 2], nested: { deep: [null, true, 'ü'] } };
      const write = { document, expectedVersion: null, batches: [landed, running], events };
      expect(await world.store().saveQueue(held, repo, write)).toBe(1);
      expect(await world.store().loadQueueRecord(repo.id)).toEqual({ version: 1, document });
      expect(await world.store().listBatches(repo.tenantId, 10)).toEqual([running, landed]);
      expect(await world.store().listBatches(repo.tenantId, 1)).toEqual([running]);
      expect(await world.store().listEvents(repo.tenantId, 10)).toEqual([...events].reverse());
    });

    test('the newest rows of one repo are found, however many others of its tenant came after them', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const store = world.store();
      const own = [
        batchOf(repo, { id: 'own-1', createdAt: 1_000 }),
        batchOf(repo, { id: 'own-2', createdAt: 2_000 }),
      ];
      const told = eventOf(repo, { at: 1_000, event: 'pr_staged' });
      let expectedVersion = await store.saveQueue(held, repo, firstWrite({ batches: own, events: [told] }));
      for (let write = 0; write < 4; write += 1) {
        const others = times(45, (index) => ({ id: `other-${write}-${index}`, repoId: 'other' }));
        expectedVersion = await store.saveQueue(held, repo, {
          ...firstWrite({ expectedVersion }),
          batches: others.map((each) => batchOf(repo, { ...each, createdAt: 5_000 })),
          events: others.map(({ repoId }) => eventOf(repo, { repoId, at: 5_000, event: 'pr_staged' })),
        });
      }
      expect((await store.listOwnBatches(repo, 10)).map(({ id }) => id)).toEqual(['own-2', 'own-1']);
      expect((await store.listOwnBatches(repo, 1)).map(({ id }) => id)).toEqual(['own-2']);
      expect(await store.listOwnEvents(repo, 10)).toEqual([{ ...told, stored: expect.any(String) }]);
      const near = [await store.listOwnBatches(repo, 10, 181), await store.listOwnEvents(repo, 10, 180)];
      expect(near.map((rows) => rows.length)).toEqual([1, 0]);
      const [damaged] = own;
      if (damaged === undefined) throw new Error('no row');
      await world.subject().corrupt('batch', { tenantId: repo.tenantId, id: batchSortKey(damaged) });
      expect((await store.listOwnBatches(repo, 10)).map(({ id }) => id)).toEqual(['own-2']);
    });

    test('a batch row is replaced by its next state, not added a second time', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const store = world.store();
      await store.saveQueue(held, repo, firstWrite({ batches: [batchOf(repo)] }));
      const next = batchOf(repo, { outcome: 'bounced', phase: null, resolvedAt: 9 });
      await store.saveQueue(held, repo, firstWrite({ expectedVersion: 1, batches: [next] }));
      expect(await store.listBatches(repo.tenantId, 10)).toEqual([next]);
    });

    test('landed and bounced leave a mark on the pull request, the newest one; other events do not', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const { readTerminal } = world.subject();
      const events = [
        eventOf(repo, { pr: 1, event: 'pr_staged' }),
        eventOf(repo, { pr: 2, event: 'pr_bounced', at: 1_000 }),
        eventOf(repo, { pr: 3, event: 'pr_requeued' }),
      ];
      await world.store().saveQueue(held, repo, firstWrite({ events }));
      expect(await readTerminal(repo.id, 1)).toBeUndefined();
      expect(await readTerminal(repo.id, 2)).toMatchObject({ event: 'pr_bounced', at: 1_000 });
      expect(await readTerminal(repo.id, 3)).toBeUndefined();
      const later = [
        eventOf(repo, { pr: 2, event: 'pr_bounced', at: 2_000 }),
        eventOf(repo, { pr: 2, event: 'pr_landed', at: 3_000 }),
      ];
      await world.store().saveQueue(held, repo, firstWrite({ expectedVersion: 1, events: later }));
      expect(await readTerminal(repo.id, 2)).toMatchObject({ event: 'pr_landed', at: 3_000 });
      await world.store().deleteRepo(repo);
      expect(await readTerminal(repo.id, 2)).toBeUndefined();
    });

    test('a lost race stores nothing of the write (A5, A42)', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const store = world.store();
      await store.saveQueue(held, repo, firstWrite());
      const late = { document: { line: [] }, batches: [batchOf(repo)], events: [eventOf(repo)] };
      for (const expectedVersion of [null, 2, 7]) {
        expect(await kindOf(store.saveQueue(held, repo, { ...late, expectedVersion }))).toBe('lost_race');
      }
      expect(await store.loadQueueRecord(repo.id)).toEqual({ version: 1, document: { line: [1] } });
      expect(await store.listBatches(repo.tenantId, 10)).toEqual([]);
      expect(await store.listEvents(repo.tenantId, 10)).toEqual([]);
    });

    test('20 writers of one version: one wins', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const kinds = await Promise.all(
        times(20, (index) =>
          kindOf(world.store().saveQueue(held, repo, firstWrite({ document: { index } }))),
        ),
      );
      expect(kinds.filter((kind) => kind === null)).toHaveLength(1);
      expect(new Set(kinds)).toEqual(new Set([null, 'lost_race']));
    });

    test.each(['taken over', 'released', 'repo deleted'])(
      'a zombie worker writes nothing: lease %s (A40)',
      async (how) => {
        const { repo } = await world.enroll();
        const store = world.store();
        const zombie = await world.hold(repo.id);
        await store.saveQueue(zombie, repo, firstWrite());
        await store.saveReport(zombie, REPORT);
        if (how === 'taken over') {
          await world.clock.advance(TTL_MS + LEASE_TAKEOVER_GRACE_MS);
          await world.hold(repo.id);
        } else if (how === 'released') {
          await store.releaseLease(repo.id, { fence: zombie.fence, expiresAt: zombie.expiresAt });
        } else {
          await store.deleteRepo(repo);
        }
        const write = firstWrite({ expectedVersion: 1, batches: [batchOf(repo)], events: [eventOf(repo)] });
        expect(await kindOf(store.saveQueue(zombie, repo, write))).toBe('fenced');
        expect(await kindOf(store.saveReport(zombie, { ...REPORT, at: 99 }))).toBe('fenced');
        expect(await kindOf(store.quarantineQueueRecord(zombie))).toBe('fenced');
        const gone = how === 'repo deleted';
        expect((await store.loadQueueRecord(repo.id))?.version ?? null).toBe(gone ? null : 1);
        expect(await store.loadReport(repo.id)).toEqual(gone ? null : REPORT);
        expect(await store.listBatches(repo.tenantId, 10)).toEqual([]);
        expect(await store.listEvents(repo.tenantId, 10)).toEqual([]);
      },
    );

    test('a lease of a repo that is gone writes nothing either (A57)', async () => {
      const { repo } = await world.enroll();
      await world.store().deleteRepo(repo);
      const late = await world.hold(repo.id);
      expect(await kindOf(world.store().saveQueue(late, repo, firstWrite()))).toBe('fenced');
      expect(await kindOf(world.store().saveReport(late, REPORT))).toBe('fenced');
    });

    test('an unreadable record is a failure of its own kind, and can be set aside (A32)', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const store = world.store();
      await store.saveQueue(held, repo, firstWrite());
      await world.subject().corrupt('queue', repo);
      expect(await kindOf(store.loadQueueRecord(repo.id))).toBe('unreadable');
      await store.quarantineQueueRecord(held);
      expect(await store.loadQueueRecord(repo.id)).toBeNull();
      expect(await store.saveQueue(held, repo, firstWrite())).toBe(1);
      expect(await store.loadQueueRecord(repo.id)).toEqual({ version: 1, document: { line: [1] } });
    });

    test('a large document is kept whole; one that no row can hold is refused and changes nothing', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const store = world.store();
      const large = { text: 'tree '.repeat(QUEUE_DOCUMENT_PLAIN_BYTES_MAX) };
      await store.saveQueue(held, repo, firstWrite({ document: large }));
      expect((await store.loadQueueRecord(repo.id))?.document).toEqual(large);
      const dense = { text: randomBytes(450_000).toString('base64') };
      const refused = firstWrite({ document: dense, expectedVersion: 1 });
      expect(await kindOf(store.saveQueue(held, repo, refused))).toBe('too_large');
      expect((await store.loadQueueRecord(repo.id))?.version).toBe(1);
    });

    test('the largest write of the contract fits; one row more is refused', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const batches = times(60, (index) => batchOf(repo, { id: `batch-${index}` }));
      const queued = times(23, (pr) => eventOf(repo, { pr, event: 'pr_queued' }));
      const landed = times(7, (pr) => eventOf(repo, { pr }));
      const store = world.store();
      const write = firstWrite({ batches, events: [...queued, ...landed] });
      expect(await store.saveQueue(held, repo, write)).toBe(1);
      expect(await store.listBatches(repo.tenantId, 100)).toHaveLength(60);
      expect(await store.listEvents(repo.tenantId, 100)).toHaveLength(30);
      const eighth = [...queued.slice(1), ...landed, eventOf(repo, { pr: 8 })];
      const larger = { ...write, expectedVersion: 1, events: eighth };
      expect(await kindOf(store.saveQueue(held, repo, larger))).toBe('too_large');
      const many = times(98, (index) => batchOf(repo, { id: `batch-${index}` }));
      expect(await kindOf(store.saveQueue(held, repo, { ...write, batches: many, events: [] }))).toBe(
        'too_large',
      );
    });

    test.each([
      ['running without a phase', { phase: null }],
      ['running and resolved', { resolvedAt: 5 }],
      ['resolved without a time', { outcome: 'success', phase: null }],
      ['resolved with a phase', { outcome: 'success', resolvedAt: 5 }],
    ] as const)('a batch that is %s is refused (A43)', async (_name, changes) => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const write = firstWrite({ batches: [batchOf(repo, changes)] });
      await expect(world.store().saveQueue(held, repo, write)).rejects.toThrow(RangeError);
      expect(await world.store().loadQueueRecord(repo.id)).toBeNull();
    });

    test('the report is the last one written; an unreadable one is not half-read', async () => {
      const { repo } = await world.enroll();
      const held = await world.hold(repo.id);
      const store = world.store();
      expect(await store.loadReport(repo.id)).toBeNull();
      await store.saveReport(held, REPORT);
      const next: EngineReport = {
        ...REPORT,
        at: 2,
        errorCode: 'forge_access_denied',
        wakeAt: null,
        missingScopes: ['write:issue'],
        refusal: 'archived',
        settingsSeen: { commit: 'c', tree: 't', since: 4, blob: null, from: null, values: {} },
        logTail: [],
      };
      await store.saveReport(held, next);
      expect(await store.loadReport(repo.id)).toEqual(next);
      await world.subject().corrupt('report', repo);
      expect(await kindOf(store.loadReport(repo.id))).toBe('unreadable');
    });
  });
}
