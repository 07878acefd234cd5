import { toManagedRepoView } from '#core/contracts/repos/managed-repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { readFactsOf } from '#core/services/repos/repo-facts.ts';
import { noteRule } from '../../../engine-container/src/queue/admission/rule-notes.ts';
import { givenRule } from '../../builders/snapshot.ts';
import { QueueWorld, REPO } from '../queue-world.ts';
import { givenScheduled } from '../stories.ts';

async function shown(world: QueueWorld) {
  const repo = await world.store.getRepo(REPO);
  if (repo === null) throw new Error('the repo is gone');
  const view = toManagedRepoView(await readFactsOf(world.store, repo, PLAN_LIMITS));
  return { code: view.reconcile.error_code, ...view.provisioning.protection };
}

async function given(): Promise<QueueWorld> {
  const world = new QueueWorld();
  await world.open();
  return world;
}

async function look(world: QueueWorld): Promise<void> {
  await world.start();
  await world.pass(2_000);
}

const GOOD_RULE = { directPushAllowed: false, blockOnOutdatedBranch: false, requiredContexts: ['mq'] };

describe('the owner learns of faults of the base’s rule, whether or not protection was asked for', () => {
  test('nothing, while nothing is in the way', async () => {
    const world = await given();
    await look(world);
    expect(await shown(world)).toEqual({ code: null, status: 'not_requested', detail: null, required: true });
  });

  test.each([
    ['direct_push_allowed', { directPushAllowed: true }],
    ['block_on_outdated_branch', { blockOnOutdatedBranch: true }],
    ['foreign_pattern', { requiredContexts: ['mq', 'm*'] }],
  ])('%s is shown before anything waits, and goes when it was turned off', async (reason, rule) => {
    const world = await given();
    await world.forge.setProtection(rule);
    await look(world);
    const { status, detail } = await shown(world);
    expect([status, detail]).toEqual(['not_requested', expect.stringMatching(`^${reason}: `)]);
    await world.forge.setProtection({ ...GOOD_RULE });
    await givenScheduled(world.forge, 'a');
    await look(world);
    expect((await shown(world)).detail).toBeNull();
  });

  test.each([
    [
      'context_not_required',
      (forge: QueueWorld['forge']) => forge.setProtection({ requiredContexts: ['m*'] }),
    ],
    ['all_statuses_required', (forge: QueueWorld['forge']) => forge.setProtection({ requiredContexts: [] })],
    ['rule_missing', (forge: QueueWorld['forge']) => forge.removeProtection()],
  ])('protection_conflict carries its detail: %s', async (reason, change) => {
    const world = await given();
    // Without a rule the forge would merge at once what is scheduled.
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    await givenScheduled(world.forge, 'a');
    await change(world.forge);
    await world.clock.advance(30_000);
    await look(world);
    const { code, detail, required } = await shown(world);
    expect([code, detail]).toEqual(['protection_conflict', expect.stringMatching(`^${reason}: `)]);
    expect(required).toBe(false);
  });

  test('a rule that names people who may bypass it is told to a bot that reads it in full', () => {
    const rule = { ...givenRule(), bypassAllowed: true } as const;
    expect(noteRule(rule, 'mq')).toEqual(['bypass_allowed']);
  });

  test('a rule that lets some files be pushed past it is told to a bot that reads it in full', () => {
    const rule = { ...givenRule(), filesPushable: true } as const;
    expect(noteRule(rule, 'mq')).toEqual(['unprotected_files']);
    expect(noteRule({ ...rule, scope: 'summary' }, 'mq')).toEqual([]);
  });

  test('a rule that loses the context while a batch is under way is told of as well', async () => {
    const world = await given();
    await givenScheduled(world.forge, 'a');
    await world.clock.advance(30_000);
    await look(world);
    await world.forge.setProtection({ requiredContexts: ['ci'] });
    await world.pass(10 * 60_000, {
      until: async () => (await shown(world)).code === 'protection_conflict',
    });
    expect((await shown(world)).detail).toMatch(/^context_not_required: /);
  });

  test('an engine that does not come takes nothing of it away', async () => {
    const world = await given();
    await world.forge.setProtection({ directPushAllowed: true });
    await look(world);
    const { ranAt } = (await world.store.loadReconcileOutcome(world.repo)) ?? { ranAt: 0 };
    await world.store.saveReconcileOutcome(world.repo, {
      ranAt: ranAt + 1,
      ok: false,
      errorCode: 'engine_error',
    });
    expect(await shown(world)).toMatchObject({
      code: 'engine_error',
      detail: expect.stringMatching(/^direct_push_allowed: /),
    });
  });

  test('a bot that is no administrator tells what the summary of the branch shows, and of its flags nothing', () => {
    const summary = { ...givenRule(), scope: 'summary', directPushAllowed: true } as const;
    expect(noteRule(summary, 'mq')).toEqual([]);
    expect(noteRule({ ...summary, requiredContexts: ['mq', '*'] }, 'mq')).toEqual(['foreign_pattern']);
    expect(noteRule({ ...summary, requiredContexts: ['ci'] }, 'mq')).toEqual(['context_not_required']);
    expect(noteRule({ ...summary, requiredContexts: [] }, 'mq')).toEqual(['all_statuses_required']);
    expect(noteRule({ ...summary, bypassAllowed: true }, 'mq')).toEqual([]);
    expect(noteRule(null, 'mq')).toEqual(['rule_missing']);
  });
});
