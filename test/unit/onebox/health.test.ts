import { createHealth } from '../../../onebox/health.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const isFolderThere = () => true;
const UNAVAILABLE = { statusCode: 503, body: '{"status":"unavailable","dependency":"database"}' };

describe('the health of one box', () => {
  test.each([
    ['answers', async () => 1, { statusCode: 200, body: '{"status":"ok"}' }],
    ['has never ticked', async () => null, { statusCode: 200, body: '{"status":"ok"}' }],
    ['is gone', () => Promise.reject(new Error('ECONNREFUSED')), UNAVAILABLE],
    ['hangs', () => new Promise<never>(() => {}), UNAVAILABLE],
  ])('is that of its database, which %s', async (_, loadLastTick, expected) => {
    const parts = { store: { loadLastTick }, isFolderThere, clock: new VirtualClock(), withinMs: 20 };
    const health = createHealth(parts);
    expect(await health()).toMatchObject(expected);
  });

  test('asks the database once in five seconds, however many ask, and sees it come back', async () => {
    let [calls, isThere] = [0, false];
    const clock = new VirtualClock();
    const store = {
      loadLastTick: async () => {
        calls += 1;
        if (!isThere) throw new Error('ECONNREFUSED');
        return null;
      },
    };
    const health = createHealth({ store, isFolderThere, clock });
    const ask = async () => (await health()).statusCode;
    expect([await ask(), await ask(), calls]).toEqual([503, 503, 1]);
    isThere = true;
    await clock.advance(5_000);
    expect([await ask(), calls]).toEqual([200, 2]);
  });
});
