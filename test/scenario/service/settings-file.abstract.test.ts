import type { EngineForge } from '#core/ports/forge.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { landedOf, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World, type WorldOptions } from '../world.ts';

/** Settings that `.mergeyard.yml` on the base gives (decision 0237). */
const MINUTE = 60_000;
const FILE = '.mergeyard.yml';
const SLOW = 'batch_linger_seconds: 1800\n';
const WRONG = '# Two minutes.\nbatch_linger_seconds: soon\n';

async function given(file: string | null, options: WorldOptions = {}): Promise<World> {
  const world = await createWorld({ ...options, repo: { settingsFile: true, ...options.repo } });
  await givenProject(world.forge, file === null ? {} : { [FILE]: file });
  return world;
}
const seen = async (world: World) => (await world.record()).settingsSeen;
/** A first look after which the queue is at rest. */
const settle = (world: World) => world.drain({ maxMs: 5 * MINUTE });

/** Counts the listings and contents that the engine reads. */
function counting() {
  const calls: string[] = [];
  const wrapForge = (forge: EngineForge): EngineForge => ({
    ...forge,
    readTree: (...args) => {
      calls.push('tree');
      return forge.readTree(...args);
    },
    readBlob: (...args) => {
      calls.push('blob');
      return forge.readBlob(...args);
    },
  });
  return { calls, wrapForge };
}

test('a value of the file on the base is obeyed in place of the stored one (A135)', async () => {
  const world = await given(SLOW);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 20 * MINUTE });
  expect([landedOf(world), world.forge.runs()]).toEqual([[], []]);
  expect(await seen(world)).toMatchObject({
    commit: await world.forge.tip('main'),
    from: await world.forge.tip('main'),
    values: { batch_linger_seconds: 1800 },
  });
  await world.drain({ maxMs: 30 * MINUTE });
  expect(landedOf(world)).toEqual([pr]);
});

test('where the setting is off, the file is neither read nor obeyed', async () => {
  const { calls, wrapForge } = counting();
  const world = await given(SLOW, { wrapForge, repo: { settingsFile: false } });
  await settle(world);
  expect([calls, await seen(world)]).toEqual([[], undefined]);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 20 * MINUTE });
  expect(landedOf(world)).toEqual([pr]);
});

test('the file is read once for each tip of the base, and an idle look asks nothing more', async () => {
  const { calls, wrapForge } = counting();
  const world = await given(SLOW, { wrapForge });
  await settle(world);
  expect(calls).toEqual(['tree', 'blob']);
  await world.clock.advance(30 * MINUTE);
  await settle(world);
  expect(calls).toEqual(['tree', 'blob']);
  await world.forge.pushToBase({ 'other.txt': 'x\n' });
  await world.clock.advance(30 * MINUTE);
  await settle(world);
  // The same contents: listed again, and not read again.
  expect(calls).toEqual(['tree', 'blob', 'tree']);
});

test('a file that comes while a look is under way is told since it was read, and no earlier than it came', async () => {
  let pushedAt: number | null = null;
  const world: World = await given(null, {
    wrapForge: wrapForge(async (name, _args, real) => {
      const answer = await real();
      if (name !== 'listOpenPullRequests' || pushedAt !== null) return answer;
      await world.clock.advance(10_000);
      pushedAt = world.clock.now();
      await world.forge.pushToBase({ [FILE]: WRONG });
      return answer;
    }),
  });
  await world.reconcile();
  const { since, problems } = (await seen(world)) ?? {};
  expect([since, problems?.length]).toEqual([pushedAt, 1]);
});

test('a change takes effect after it landed, and never from a head (A135)', async () => {
  const world = await given(null);
  await world.settings({ batchLingerSeconds: 60 });
  const pr = await givenScheduled(world.forge, 'a', SLOW, { path: FILE });
  await world.drain({ until: () => world.forge.runs().length > 0 });
  expect((await seen(world))?.values).toEqual({});
  await world.drain({ maxMs: 20 * MINUTE });
  expect([landedOf(world), (await seen(world))?.values]).toEqual([[pr], { batch_linger_seconds: 1800 }]);
});

test('a wrong file leaves the last right values in force, and does not stop the queue (A136)', async () => {
  const world = await given('batch_linger_seconds: 600\n');
  await settle(world);
  const right = await world.forge.tip('main');
  const wrong = await world.forge.pushToBase({ [FILE]: WRONG });
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 8 * MINUTE });
  expect([landedOf(world), await seen(world)]).toEqual([
    [],
    expect.objectContaining({
      commit: wrong,
      from: right,
      values: { batch_linger_seconds: 600 },
      problems: [expect.objectContaining({ line: 2, key: 'batch_linger_seconds' })],
    }),
  ]);
  await world.drain({ maxMs: 30 * MINUTE });
  expect(landedOf(world)).toEqual([pr]);
});

test('a file that was wrong from the first leaves the stored values in force (A136)', async () => {
  const world = await given(WRONG);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 20 * MINUTE });
  expect([landedOf(world), await seen(world)]).toEqual([
    [pr],
    expect.objectContaining({ from: null, values: {} }),
  ]);
});

test('a file that is gone leaves the stored values in force', async () => {
  const world = await given(SLOW);
  await settle(world);
  await world.forge.pushToBase({ [FILE]: null });
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 20 * MINUTE });
  expect([landedOf(world), await seen(world)]).toEqual([
    [pr],
    expect.objectContaining({ blob: null, from: null, values: {} }),
  ]);
});

const BROKEN: readonly (readonly [string, (forge: EngineForge) => Partial<EngineForge>])[] = [
  [
    'does not give its contents',
    () => ({ readBlob: () => Promise.reject(new ForgeError('unreachable', 'GET git/blobs/{sha}', 502)) }),
  ],
  [
    'lists half of the tree',
    (forge) => ({ readTree: async (...args) => ({ ...(await forge.readTree(...args)), entries: null }) }),
  ],
];

test.each(BROKEN)(
  'a forge that fails while the file is read leaves the values from before, and is asked again, where it %s (A136)',
  async (_how, breakIn) => {
    let isDown = false;
    const wrapForge = (forge: EngineForge): EngineForge =>
      new Proxy(forge, {
        get: (target, name) => Reflect.get(isDown && name in breakIn(forge) ? breakIn(forge) : target, name),
      });
    const world = await given(SLOW, { wrapForge });
    await settle(world);
    const before = await seen(world);
    isDown = true;
    await world.forge.pushToBase({ [FILE]: 'batch_linger_seconds: 0\n' });
    await givenScheduled(world.forge, 'a');
    await world.drain({ maxMs: 6 * MINUTE });
    expect([await seen(world), world.forge.runs()]).toEqual([before, []]);
    isDown = false;
    await world.drain({ maxMs: 10 * MINUTE });
    expect((await seen(world))?.values).toEqual({ batch_linger_seconds: 0 });
  },
);

test('an entry of that name that is no plain file is wrong', async () => {
  const world = await given(null);
  await world.forge.pushToBase({ [FILE]: { content: 'README.md', mode: '120000' } });
  await settle(world);
  expect((await seen(world))?.problems).toEqual([
    { line: 1, column: 1, key: null, says: 'The entry of this name is no plain file.' },
  ]);
});

test('a file that is too large is wrong, and is not read', async () => {
  const { calls, wrapForge } = counting();
  const world = await given(`# ${'x'.repeat(20_000)}\n`, { wrapForge });
  await settle(world);
  expect(calls).toEqual(['tree']);
  expect((await seen(world))?.problems?.map(({ says }) => says)).toEqual([
    'The file has more than 16384 bytes.',
  ]);
});

test('values that the record keeps are not trusted when they are none: the file is read again (A137)', async () => {
  const world = await given(SLOW);
  await settle(world);
  const stored = await world.store.loadQueueRecord('repo-1');
  if (stored === null) throw new Error('no record');
  const document = stored.document as { settingsSeen: { values: object } };
  const damaged = { ...document, settingsSeen: { ...document.settingsSeen, values: { bisect_fanout: 900 } } };
  const { parseRecord } = await import('../../../engine-container/src/stored-record/record-codec.ts');
  expect(parseRecord(damaged)?.record.settingsSeen).toBeUndefined();
  const foreign = { ...document, settingsSeen: { ...document.settingsSeen, values: { reuse_ci: true } } };
  expect(parseRecord(foreign)?.record.settingsSeen).toBeUndefined();
  expect(parseRecord(document)?.record.settingsSeen).toEqual(document.settingsSeen);
});
