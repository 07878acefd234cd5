import { createHash } from 'node:crypto';
import type { Review } from '#core/domain/forge/forge.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { givenReview } from '../../builders/snapshot.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const SCHEDULED = 1_000;
const REVIEWS_EACH = 12;
const COMMENTS = 16_000;

const shaOf = (text: string): string => createHash('sha1').update(text).digest('hex');

/** As forges have them: ids with gaps, made on the head of that moment, by any account. */
const reviewOf = (pr: number, index: number, state: Review['state'], head: string): Review =>
  givenReview(index === 0 ? head : shaOf(`${pr} commit ${index}`), {
    id: Number.parseInt(shaOf(`${pr} ${index}`).slice(0, 7), 16),
    user: `person-${shaOf(`user ${index}`).slice(0, 8)}`,
    state,
    official: state !== 'comment',
  });

/** The engine's forge with `more` reviews on each pull request. */
function withReviews(more: (pr: number, head: string) => readonly Review[]) {
  return (forge: EngineForge): EngineForge =>
    new Proxy(forge, {
      get(target, name) {
        if (name !== 'listReviews') return Reflect.get(target, name);
        return async (pr: number) => {
          const { headSha } = await target.readPullRequest(pr);
          return [...(await target.listReviews(pr)), ...more(pr, headSha)];
        };
      },
    });
}

const errorOf = async (world: World) => (await world.store.loadReport('repo-1'))?.errorCode ?? null;

/** Each call takes as long as it does on a forge that is not far away. */
function withLatency(world: () => World, ms: number) {
  return (forge: EngineForge): EngineForge =>
    new Proxy(forge, {
      get(target, name) {
        const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
        return async (...values: unknown[]) => {
          await world().clock.advance(ms);
          return call.apply(target, values);
        };
      },
    });
}

/** The store refuses what DynamoDB refuses: these ran into its 400 KB for a row. */
describe('large repositories', () => {
  test('16,000 comments on one pull request: it lands, and so does the next', async () => {
    const world = await createWorld({
      wrapForge: withReviews((pr, head) => {
        const count = pr === 1 ? COMMENTS : 0;
        return Array.from({ length: count }, (_, index) => reviewOf(pr, index, 'comment', head));
      }),
    });
    await givenProject(world.forge);
    await world.forge.setProtection({ requiredApprovals: 1 });
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    for (const pr of prs) await world.forge.review(pr, 'alice', 'approve');
    expect(prs[0]).toBe(1);
    await world.clock.advance(30_000);
    await world.drain({ maxMs: 3_600_000 });
    expect(await errorOf(world)).toBeNull();
    expect(world.forge.merges().map(({ pr }) => pr)).toEqual(prs);
  });

  test('1,000 scheduled pull requests with 12 reviews each: all are in the queue, and they land', async () => {
    const world = await createWorld({
      repo: { bisectFanout: 4 },
      wrapForge: withReviews((pr, head) =>
        Array.from({ length: REVIEWS_EACH }, (_, index) => reviewOf(pr, index, 'approved', head)),
      ),
    });
    await givenProject(world.forge);
    await world.forge.setProtection({ requiredApprovals: REVIEWS_EACH });
    for (let index = 0; index < SCHEDULED; index += 1) {
      const pr = await givenScheduled(world.forge, `p${index}`);
      for (let review = 0; review < REVIEWS_EACH; review += 1)
        await world.forge.review(pr, `person-${review}`, 'approve');
    }
    await world.clock.advance(30_000);
    await world.drain({ maxMs: 3_600_000, until: () => world.forge.merges().length >= 60 });
    expect(await errorOf(world)).toBeNull();
    expect((await world.record()).entries).toHaveLength(SCHEDULED - world.forge.merges().length);
    const events = await world.store.listEvents('tenant-1', 20_000);
    const queued = events.filter(({ event }) => event === 'pr_queued').map(({ pr }) => pr);
    expect([queued.length, new Set(queued).size]).toEqual([SCHEDULED, SCHEDULED]);
  }, 240_000);

  test('more than one look has time for: each goes on where the last one ended, and the queue works meanwhile', async () => {
    const current: { world: World | null } = { world: null };
    const get = (): World => {
      if (current.world === null) throw new Error('too early');
      return current.world;
    };
    const world = await createWorld({ wrapForge: withLatency(get, 60), repo: { bisectFanout: 2 } });
    current.world = world;
    await givenProject(world.forge);
    await world.forge.setProtection({ requiredApprovals: 1 });
    for (let index = 0; index < 600; index += 1) {
      const pr = await givenScheduled(world.forge, `p${index}`);
      await world.forge.review(pr, 'alice', 'approve');
    }
    const codes: (string | null)[] = [];
    const startedAt = world.clock.now();
    await world.drain({
      maxMs: 1_800_000,
      until: async () => {
        codes.push(await errorOf(world));
        return world.forge.merges().length >= 10;
      },
    });
    expect(world.clock.now() - startedAt).toBeLessThan(300_000);
    await world.drain({
      maxMs: 1_800_000,
      until: async () => {
        codes.push(await errorOf(world));
        return (await world.record()).entries.length + world.forge.merges().length >= 600;
      },
    });
    expect(new Set(codes)).toEqual(new Set([null]));
  }, 240_000);
});
