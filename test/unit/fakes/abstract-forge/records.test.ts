import { ForgeError } from '#core/ports/forge.ts';
import { LATE_EFFECT_MS } from '../../../fakes/abstract-forge/exchange.ts';
import { openScheduled, setUp, success } from './set-up.ts';

describe('timeline and statuses', () => {
  test('entries keep their order, a second click leaves a second entry, the row outlives a push', async () => {
    const { clock, control, bot } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await clock.advance(2500);
    await control.schedule(pr, 'squash');
    const newer = await control.pushToPullRequest(pr, { x: 'x' });
    await control.setTitle(pr, 'other');
    await control.cancelSchedule(pr);
    await control.cancelSchedule(pr);
    const { entries: timeline } = await bot.readTimeline(pr);
    expect(timeline.map((entry) => [entry.kind, entry.newHead])).toEqual([
      ['pushed', head],
      ['scheduled', null],
      ['scheduled', null],
      ['pushed', newer],
      ['other', null],
      ['cancelled', null],
    ]);
    expect(timeline.map((entry) => entry.id)).toEqual(
      timeline.map((entry) => entry.id).sort((a, b) => a - b),
    );
    expect(timeline[2]?.at).toBe(Date.UTC(2026, 0, 1) + 2000);
  });

  test('the entry of a push may come later than the push', async () => {
    const { clock, control, bot } = setUp({ delays: { pushEntryMs: 4000 } });
    const { pr } = await openScheduled(control, 'one');
    const head = await control.pushToPullRequest(pr, { x: 'x' });
    expect((await bot.readPullRequest(pr)).headSha).toBe(head);
    expect((await bot.readTimeline(pr)).entries.at(-1)?.kind).toBe('scheduled');
    await clock.advance(4000);
    expect((await bot.readTimeline(pr)).entries.at(-1)).toMatchObject({ kind: 'pushed', newHead: head });
  });

  test('the newest status of a context counts, with its creator', async () => {
    const { control, bot } = setUp();
    const { head } = await openScheduled(control, 'one');
    await success(control, head, 'pending');
    await control.postStatusAs('eve', head, 'mq', 'success', 'mine');
    expect(await bot.readStatuses(head)).toMatchObject([{ context: 'mq', state: 'success', creator: 'eve' }]);
    expect(control.statusHistory(head)).toHaveLength(2);
    expect(await control.status(head, 'mq')).toEqual({
      state: 'success',
      description: 'mine',
      creator: 'eve',
    });
    await expect(success(control, 'f'.repeat(40))).rejects.toMatchObject({ kind: 'missing' });
  });

  test('deleting a branch closes what comes from it', async () => {
    const { control } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await control.deleteBranch('one');
    expect(await control.pull(pr)).toMatchObject({
      state: 'closed',
      headSha: head,
      headRef: `refs/pull/${pr}/head`,
    });
  });
});

describe('faults', () => {
  test.each([
    [{ status: 0 }, 'unreachable', true],
    [{ status: 500 }, 'unreachable', true],
    [{ status: 200, html: true }, 'unreachable', true],
    [{ status: 200, body: '{"half": ' }, 'unreachable', true],
    [{ status: 403, html: true }, 'unreachable', false],
    [{ status: 403 }, 'denied', false],
    [{ status: 404 }, 'missing', false],
    [{ status: 422 }, 'rejected', false],
    [{ status: 423 }, 'archived', false],
    [{ status: 429 }, 'rate_limited', false],
  ] as const)('%j on a write', async (fault, kind, effectUnknown) => {
    const { control } = setUp();
    const { head } = await openScheduled(control, 'one');
    control.fault = () => fault;
    const error = await success(control, head).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ForgeError);
    expect(error).toMatchObject({ kind, effectUnknown, call: 'POST statuses/{sha}' });
    expect(control.statusHistory(head)).toEqual([]);
  });

  test('an answer can be lost after the effect, and an effect can come late', async () => {
    const { clock, control } = setUp();
    const { head } = await openScheduled(control, 'one');
    control.fault = (call) => (call.method === 'POST' ? { status: 502, when: 'after' } : null);
    await expect(success(control, head, 'pending')).rejects.toMatchObject({ effectUnknown: true });
    expect(control.statusHistory(head)).toHaveLength(1);
    control.fault = () => null;
    control.isLate = () => true;
    await expect(success(control, head)).rejects.toMatchObject({ effectUnknown: true, status: null });
    expect(control.statusHistory(head)).toHaveLength(1);
    await clock.advance(LATE_EFFECT_MS);
    expect(control.statusHistory(head)).toHaveLength(2);
  });

  test('the log names each call without its numbers', async () => {
    const { control, bot } = setUp();
    const { pr } = await openScheduled(control, 'one');
    const paths: string[] = [];
    control.fault = (call) => {
      paths.push(call.path);
      return null;
    };
    await bot.readPullRequest(pr);
    await bot.readBranchTip('absent');
    expect(paths).toEqual([
      '/api/v1/repos/acme/app/pulls/1',
      '/api/v1/repos/acme/app/branches/absent',
      '/api/v1/repos/acme/app/',
    ]);
    expect(control.calls().map(({ call, status, by, write }) => ({ call, status, by, write }))).toEqual([
      { call: 'GET pulls/{n}', status: 200, by: 'mq-bot', write: false },
      { call: 'GET branches/{branch}', status: 404, by: 'mq-bot', write: false },
      { call: 'GET repo', status: 200, by: 'mq-bot', write: false },
    ]);
    control.clearCalls();
    expect(control.calls()).toEqual([]);
  });
});
