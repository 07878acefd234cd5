import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { givenEvent } from '../../builders/store-rows.ts';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

type Given = Partial<Parameters<typeof givenEvent>[0]>;

async function givenHistory(events: readonly Given[], of: { readonly others?: number } = {}) {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  const { repo: busy } = await world.enroll(TENANT_A, { slug: 'acme/busy' });
  const save = async (owner: typeof repo, rows: readonly Given[]) => {
    const grant = await world.store.acquireLease(owner.id, 'worker', 'reconcile', 1_000);
    if (grant === 'held') throw new Error('held');
    const held = grantHeldLease(owner.id, grant, () => 0, 1);
    const named = { tenantId: owner.tenantId, repoId: owner.id, repoSlug: owner.slug };
    for (let from = 0; from < rows.length; from += 20) {
      const expectedVersion = (await world.store.loadQueueRecord(owner.id))?.version ?? null;
      await world.store.saveQueue(held, owner, {
        document: {},
        expectedVersion,
        batches: [],
        events: rows.slice(from, from + 20).map((row) => givenEvent({ ...named, ...row })),
      });
    }
    await world.store.releaseLease(owner.id, grant);
  };
  const at = world.clock.now();
  await save(
    repo,
    events.map((event, index) => ({ at: at + index, ...event })),
  );
  await save(
    busy,
    Array.from({ length: of.others ?? 0 }, (_, index) => ({ at: at + 1_000 + index, pr: 500 })),
  );
  const path = `/api/v1/user/repos/${repo.id}/events`;
  const read = (query: Record<string, string> = {}) => world.as(TOKEN_A)('GET', path, undefined, { query });
  const prs = async (query: Record<string, string>) =>
    (await read(query)).json.events.map((event: { pr: number }) => event.pr);
  return { world, path, read, prs };
}

const FOUR: readonly Given[] = [
  { pr: 1, event: 'pr_queued', title: 'Say when the Shop is open', reason: null },
  { pr: 2, event: 'pr_queued', title: 'Give a discount', reason: null },
  { pr: 1, event: 'pr_landed', title: 'Say when the Shop is open', reason: null, author: 'mona' },
  { pr: 2, event: 'pr_bounced', title: 'Give a discount', reason: 'gate_failed' },
];

describe('the history of one repository', () => {
  test('shows a quiet repository beside a busy one, newest first', async () => {
    const { read } = await givenHistory(FOUR, { others: 60 });
    const { status, json } = await read();
    expect([status, json.next]).toEqual([200, null]);
    expect(json.events.map(({ pr, event }: { pr: number; event: string }) => [pr, event])).toEqual([
      [2, 'pr_bounced'],
      [1, 'pr_landed'],
      [2, 'pr_queued'],
      [1, 'pr_queued'],
    ]);
  });

  test.each([
    [{ event: 'pr_queued' }, [2, 1]],
    [{ pr: '1' }, [1, 1]],
    [{ pr: '1', event: 'pr_landed' }, [1]],
    [{ q: 'shop  SAY' }, [1, 1]],
    [{ q: 'mona' }, [1]],
    [{ q: 'gate_failed' }, [2]],
    [{ q: 'shop discount' }, []],
    [{ pr: '77' }, []],
  ])('%j finds exactly %j', async (query, wanted) => {
    const { prs } = await givenHistory(FOUR);
    expect(await prs(query as Record<string, string>)).toEqual(wanted);
  });

  test('pages by the cursor of the page before, each event once, with the filter kept', async () => {
    const many = Array.from({ length: 130 }, (_, index) => ({ pr: (index % 2) + 1 }));
    const { read } = await givenHistory(many);
    const pages: number[] = [];
    const times = new Set<string>();
    for (let next: string | null = ''; next !== null; ) {
      const { json } = await read({ pr: '1', limit: '40', ...(next === '' ? {} : { before: next }) });
      pages.push(json.events.length);
      for (const event of json.events) times.add(event.timestamp);
      next = json.next;
    }
    expect([pages, times.size]).toEqual([[40, 25], 65]);
    expect((await read({ limit: '999' })).json.events).toHaveLength(50);
  });

  test('looks through at most 2,000 rows for one page, and says where to go on', async () => {
    const { read, prs } = await givenHistory(FOUR, { others: 2_010 });
    const { json } = await read();
    expect([json.events, typeof json.next]).toEqual([[], 'string']);
    expect(await prs({ before: json.next })).toEqual([2, 1, 2, 1]);
  });

  test.each([
    { before: 'x' },
    { before: '1'.repeat(25) },
    { event: 'pr_vanished' },
    { pr: '0' },
    { pr: 'x' },
    { limit: '0' },
    { limit: '-1' },
    { q: 'x'.repeat(201) },
  ])('%j is refused by name', async (query) => {
    const { read } = await givenHistory(FOUR);
    expect(await read(query as Record<string, string>)).toMatchObject({ status: 400, code: 'invalid_field' });
  });

  test('is not there for another tenant', async () => {
    const { world, path } = await givenHistory(FOUR);
    await world.enroll(TENANT_B);
    expect(await world.as(TOKEN_B)('GET', path)).toMatchObject({ status: 404, code: 'not_found' });
  });
});
