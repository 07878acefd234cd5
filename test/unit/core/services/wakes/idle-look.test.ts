import { LOOK_BLIND_MS } from '#core/domain/limits.ts';
import type { Obligations } from '#core/domain/queue/obligations.ts';
import type { ManagedRepo, ReconcileOutcome } from '#core/domain/repos/repo.ts';
import type { LookAnswer, LookMemory, LookRequest } from '#core/ports/idle-look.ts';
import type { EngineReport } from '#core/ports/store.ts';
import type { EngineAnswer } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { createLookingEngine } from '#core/services/wakes/idle-look.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenObligations } from '../../../../builders/told-queue.ts';

const NOW = 1_800_000_000_000;
const MEMORY: LookMemory = { tip: 'a'.repeat(40), pulls: [], blindUntil: null };
const OUTCOME: ReconcileOutcome = { ranAt: NOW - 300_000, ok: true, errorCode: null };
const REPORT: EngineReport = { fence: 1, at: NOW, errorCode: null, wakeAt: null, logTail: [] };
const REQUEST = {
  tenantId: 't',
  repoSlug: 'a/b',
  baseBranch: 'main',
  queueName: 'mq',
  instanceUrl: 'https://forge.example',
  token: new Secret('canary-token-77'),
};

const ORDER = { fence: 1, command: 'reconcile' } as const;

/** An idle repository. Each part may be replaced. */
function givenRepoAtRest(
  parts: {
    repo?: Partial<ManagedRepo> | null;
    obligations?: Partial<Obligations> | null;
    outcome?: ReconcileOutcome | null;
    report?: EngineReport | null;
    memory?: LookMemory | null;
    answer?: LookAnswer;
    lookFails?: boolean;
    storeFails?: boolean;
    engine?: EngineAnswer;
  } = {},
) {
  const asked: string[] = [];
  const saved: LookMemory[] = [];
  const needs: number[] = [];
  const looks: LookRequest[] = [];
  const lines: string[] = [];
  const write = (message: string, fields = {}): void => {
    lines.push(message + JSON.stringify(fields));
  };
  const { obligations = {}, repo = {} } = parts;
  const engine = createLookingEngine(
    {
      store: {
        getRepo: async () => {
          if (parts.storeFails) throw new Error('no answer');
          return repo === null
            ? null
            : givenRepo({ updatedAt: NOW - 7_200_000, queueEnabled: true, ...repo });
        },
        readObligations: async () =>
          obligations === null ? null : givenObligations({ atRest: true, ...obligations }),
        loadReconcileOutcome: async () => (parts.outcome === undefined ? OUTCOME : parts.outcome),
        loadReport: async () => (parts.report === undefined ? REPORT : parts.report),
        loadLook: async () => (parts.memory === undefined ? MEMORY : parts.memory),
        saveLook: async (_id, memory) => {
          saved.push(memory);
        },
        noteEngineNeeded: async (at) => {
          needs.push(at);
        },
      },
      looker: {
        look: async (request) => {
          looks.push(request);
          if (parts.lookFails) throw new Error('no function');
          return parts.answer ?? { kind: 'idle', memory: MEMORY };
        },
      },
      clock: { now: () => NOW },
      log: { info: write, warn: write, error: write },
    },
    {
      reconcile: async () => {
        asked.push('engine');
        return parts.engine ?? 'ok';
      },
      isHealthy: async () => true,
    },
    'repo-1',
  );
  return { engine, asked, saved, needs, looks, lines };
}

describe('a repository at rest', () => {
  test('is looked at without the engine, which is not needed then', async () => {
    const world = givenRepoAtRest();
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('unchanged');
    expect(world).toMatchObject({ asked: [], needs: [], saved: [] });
    expect(world.looks).toEqual([expect.objectContaining({ statusContext: 'mq', memory: MEMORY })]);
  });

  test('the findings of the look are stored when they are new', async () => {
    const seen = { ...MEMORY, pulls: [{ pr: 1, head: 'h', updatedAt: 1, seenAt: 1, readAt: 5_000 }] };
    const world = givenRepoAtRest({ answer: { kind: 'idle', memory: seen } });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('unchanged');
    expect(world.saved).toEqual([seen]);
  });

  test('that needs the engine after all notes that, and asks it', async () => {
    const world = givenRepoAtRest({ answer: { kind: 'needed', memory: { ...MEMORY, tip: 'b' } } });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('ok');
    expect(world).toMatchObject({ asked: ['engine'], needs: [NOW], saved: [{ tip: 'b' }] });
  });

  test('an engine that did not succeed has not seen what the look saw: nothing is remembered', async () => {
    const world = givenRepoAtRest({
      answer: { kind: 'needed', memory: { ...MEMORY, tip: 'b' } },
      engine: 'starting',
    });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('starting');
    expect(world.saved).toEqual([]);
  });

  test.each([
    ['an hour ago', NOW - 3_700_000, undefined, true],
    ['at a time that is to come, before the clock was set back', NOW + 120_000, undefined, true],
    ['at a time that is to come, and by a look a minute ago', NOW + 120_000, NOW - 60_000, false],
  ])('its hook was seen %s', async (_what, at, hookAt, isAsked) => {
    const hook = { state: 'working', since: 1, at } as const;
    const world = givenRepoAtRest({
      repo: { wakeupMode: 'webhook', hookId: 'h' },
      outcome: { ...OUTCOME, hook },
      memory: { ...MEMORY, hookAt },
    });
    await world.engine.reconcile(REQUEST, ORDER);
    expect(world.looks.map(({ setUp }) => setUp?.part === 'hook')).toEqual([isAsked]);
  });

  test('no token reaches the log', async () => {
    for (const parts of [{}, { lookFails: true }, { storeFails: true }]) {
      const world = givenRepoAtRest(parts);
      await world.engine.reconcile(REQUEST, ORDER);
      expect(world.lines.join()).not.toContain('canary');
    }
  });
});

describe('the engine is asked without a look', () => {
  test.each<[string, Parameters<typeof givenRepoAtRest>[0]]>([
    ['the queue is not at rest', { obligations: { atRest: false } }],
    ['the engine has told nothing yet', { obligations: null }],
    ['it was never reconciled', { outcome: null }],
    ['the engine left no report', { report: null }],
    ['the engine wants to look again at a time', { report: { ...REPORT, wakeAt: NOW + 60_000 } }],
    [
      'its last outcome is an error of the queue',
      { outcome: { ...OUTCOME, ok: false, errorCode: 'gate_missing' } },
    ],
    ['its settings changed after its last outcome', { repo: { updatedAt: NOW - 200_000 } }],
    ['its settings changed less than a minute before that', { repo: { updatedAt: NOW - 359_000 } }],
    ['its queue is off', { repo: { queueEnabled: false } }],
    ['it is deleted', { repo: { tombstone: true } }],
    ['the look is blind for this forge', { memory: { ...MEMORY, blindUntil: NOW + 1 } }],
    ['the store does not answer', { storeFails: true }],
  ])('%s', async (_case, parts) => {
    const world = givenRepoAtRest(parts);
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('ok');
    expect(world).toMatchObject({ asked: ['engine'], needs: [NOW], looks: [] });
  });
});

test('an order to wind down is for the engine', async () => {
  const world = givenRepoAtRest();
  expect(await world.engine.reconcile(REQUEST, { fence: 1, command: 'wind_down' })).toBe('ok');
  expect(world).toMatchObject({ asked: ['engine'], looks: [] });
});

describe('a look that fails', () => {
  const FAILED: LookAnswer = { kind: 'failed', fault: 'forge_unreachable' };
  const AWAY: ReconcileOutcome = { ...OUTCOME, ok: false, errorCode: 'forge_unreachable' };

  test('because there is no function: the engine is asked', async () => {
    const world = givenRepoAtRest({ lookFails: true });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('ok');
    expect(world.saved).toEqual([]);
  });

  test('the engine fails as well: the same again, however soon the engine wanted to look', async () => {
    const report = { ...REPORT, errorCode: 'forge_unreachable', wakeAt: NOW + 30_000 } as const;
    const world = givenRepoAtRest({ answer: FAILED, outcome: AWAY, report });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('unchanged');
    expect(world.asked).toEqual([]);
  });

  test('the engine’s last failure is more than an hour old: it is asked, because it may reach a forge that the look does not', async () => {
    const report = { ...REPORT, at: NOW - LOOK_BLIND_MS, errorCode: 'forge_unreachable' } as const;
    const world = givenRepoAtRest({ answer: FAILED, outcome: AWAY, report });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('ok');
    expect(world.asked).toEqual(['engine']);
  });

  test('the engine succeeds: the forge is left to the engine for an hour', async () => {
    const world = givenRepoAtRest({ answer: FAILED });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('ok');
    expect(world.saved).toEqual([{ ...MEMORY, blindUntil: NOW + LOOK_BLIND_MS }]);
  });

  test('a forge that answers again after a failure is reconciled by the engine', async () => {
    const world = givenRepoAtRest({ outcome: AWAY });
    expect(await world.engine.reconcile(REQUEST, ORDER)).toBe('ok');
    expect(world.asked).toEqual(['engine']);
  });
});
