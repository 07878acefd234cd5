import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { headOf, landedOf, told } from '../hooks.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, createWorldOn } from '../world.ts';

/** The cause of a refusal is looked at again when it changes, and words about a head are about that head. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('protected files: one stacked on what was merged by hand is let in', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setProtection({ protectedFilePatterns: 'ci/**' });
  const lower = await world.forge.openPullRequest({ branch: 'lower', files: { 'ci/x.txt': 'x\n' } });
  const upper = await world.forge.openPullRequest({
    branch: 'upper',
    from: 'lower',
    files: { 'src/u.txt': 'u\n' },
  });
  await world.forge.schedule(upper, 'squash');
  await world.drain({ maxMs: 20 * MINUTE });
  await world.forge.mergeByHand(lower);
  await world.drain({ maxMs: 4 * HOUR });
  expect(landedOf(world)).toEqual([lower, upper]);
});

test('an author who is given the right to write is let in', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setAccess('eve', 'read');
  const a = await world.forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'a\n' }, author: 'eve' });
  await world.forge.schedule(a, 'squash');
  await world.drain({ maxMs: 20 * MINUTE });
  await world.forge.setAccess('eve', 'write');
  await world.drain({ maxMs: 6 * HOUR });
  expect(landedOf(world)).toEqual([a]);
});

test('a gate of 45 minutes that its own pull request brings lands', async () => {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, files: { [GATE_PATH]: null } });
  const world = await createWorldOn(clock, forge, forge.forge, {});
  world.forge.gateDurationMs = 45 * MINUTE;
  const a = await world.forge.openPullRequest({ branch: 'gate', files: { [GATE_PATH]: GATE_FILE } });
  await world.forge.schedule(a, 'squash');
  const b = await givenScheduled(world.forge, 'b');
  await world.drain({ maxMs: 6 * HOUR });
  expect(landedOf(world)).toEqual([a, b]);
});

test('a new head is not refused for what the forge said of the old one', async () => {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: { modesClash: true } });
  const world = await createWorldOn(clock, forge, forge.forge, {});
  const LINES = Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join('');
  await givenProject(world.forge, { 'src/old.txt': LINES });
  const pr = await world.forge.openPullRequest({
    branch: 'mode',
    files: { 'src/old.txt': { content: LINES, mode: '100755' } },
  });
  await world.forge.schedule(pr, 'squash');
  await world.forge.pushToBase({ 'src/old.txt': `first\n${LINES}` });
  await world.drain({ maxMs: 40 * MINUTE });
  world.forge.fault = () => ({ status: 503 });
  await world.drain({ maxMs: 40 * MINUTE });
  world.forge.fault = () => null;
  await world.forge.pushToPullRequest(pr, {
    'src/old.txt': { content: LINES, mode: '100644' },
    'src/own.txt': 'own\n',
  });
  await world.forge.cancelSchedule(pr);
  await world.forge.schedule(pr, 'squash');
  world.forge.checkDelayMs = 20_000;
  await world.forge.pushToBase({ 'z.txt': 'z\n' });
  await world.reconcile();
  expect((await world.forge.status(await headOf(world, pr), 'mq'))?.description ?? '').not.toMatch(
    /^refused: git merges it, but the forge calls it a conflict/,
  );
});

test('a changed list of patterns is read as changed', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setProtection({ protectedFilePatterns: 'x.txt,src/a.txt', requiredApprovals: 1 });
  const a = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 10 * MINUTE });
  await world.forge.setProtection({ protectedFilePatterns: 'x.txt;src/a.txt', requiredApprovals: 0 });
  await world.drain({ maxMs: HOUR });
  expect(await told(world, a)).not.toContain('pr_staged:null');
});

test('a head that was refused, left and pushed back is told of its refusal again', async () => {
  const world = await createWorld();
  const { forge } = world;
  await givenProject(forge, { 'a.txt': 'a\n' });
  const pr = await forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'b\n' } });
  const { headSha: refused } = await forge.pull(pr);
  await forge.pushToBase({ 'a.txt': 'b\n' });
  await forge.schedule(pr, 'squash');
  await world.drain({ maxMs: 20 * MINUTE });
  expect((await forge.status(refused, 'mq'))?.description).toMatch(/^refused: changes nothing/);

  forge.judge = () => 'hold';
  await forge.pushToPullRequest(pr, { 'b.txt': 'b\n' });
  await world.drain({ maxMs: MINUTE });
  expect((await forge.status(refused, 'mq'))?.description).toMatch(/^requeued: head changed/);
  await forge.forcePushPullRequest(pr, refused);
  await world.drain({ maxMs: 20 * MINUTE });
  expect((await forge.status(refused, 'mq'))?.description).toMatch(/^refused: changes nothing/);
});
