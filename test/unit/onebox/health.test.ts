import { HEALTH_TICK_AGE_MS_MAX } from '#core/domain/api-limits.ts';
import { createHealth, type HealthParts } from '../../../onebox/health.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const OK = { statusCode: 200, body: '{"status":"ok"}' };
const lacks = (dependency: string) => ({
  statusCode: 503,
  body: JSON.stringify({ status: 'unavailable', dependency }),
});
const RIGHT: Omit<HealthParts, 'clock'> = {
  store: { loadLastTick: async () => 1 },
  proveWritable: async () => {},
  isFolderThere: () => true,
  lookedAt: () => 0,
  withinMs: 20,
};
const gone = () => Promise.reject(new Error('ECONNREFUSED'));
const hangs = () => new Promise<never>(() => {});

describe('the health of one box', () => {
  test.each<[string, Partial<HealthParts>, object]>([
    ['all is right', {}, OK],
    ['the timer has never looked', { store: { loadLastTick: async () => null } }, OK],
    ['the database takes no row', { proveWritable: gone }, lacks('database')],
    ['the database hangs', { proveWritable: hangs }, lacks('database')],
    ['the data folder is gone', { isFolderThere: () => false }, lacks('data_folder')],
    ['the last look is old', { lookedAt: () => -HEALTH_TICK_AGE_MS_MAX - 1 }, lacks('timer')],
    ['the last look is as old as it may be', { lookedAt: () => -HEALTH_TICK_AGE_MS_MAX }, OK],
  ])('where %s', async (_, changes, expected) => {
    const clock = { monotonic: () => 0 };
    expect(await createHealth({ ...RIGHT, clock, ...changes })()).toMatchObject(expected);
  });

  test.each([
    ['is gone', gone],
    ['hangs', hangs],
  ])('is that of a database which %s also between two writes', async (_, loadLastTick) => {
    const clock = new VirtualClock();
    const health = createHealth({
      ...RIGHT,
      lookedAt: () => clock.monotonic(),
      store: { loadLastTick },
      clock,
    });
    expect(await health()).toMatchObject(OK);
    await clock.advance(5_000);
    expect(await health()).toMatchObject(lacks('database'));
  });

  test('asks the database once in five seconds, however many ask, and sees a full disk have space again', async () => {
    let [calls, isThere] = [0, false];
    const clock = new VirtualClock();
    const proveWritable = async () => {
      calls += 1;
      if (!isThere) throw new Error('database or disk is full');
    };
    const health = createHealth({ ...RIGHT, proveWritable, lookedAt: () => clock.monotonic(), clock });
    const ask = async () => (await health()).statusCode;
    expect([await ask(), await ask(), calls]).toEqual([503, 503, 1]);
    isThere = true;
    await clock.advance(5_000);
    expect([await ask(), calls]).toEqual([200, 2]);
  });

  test('writes once in half a minute while the writes go well', async () => {
    let writes = 0;
    const clock = new VirtualClock();
    const proveWritable = async () => {
      writes += 1;
    };
    const health = createHealth({ ...RIGHT, proveWritable, lookedAt: () => clock.monotonic(), clock });
    for (let second = 0; second < 120; second += 1) {
      await health();
      await clock.advance(1_000);
    }
    expect(writes).toBe(4);
  });
});
