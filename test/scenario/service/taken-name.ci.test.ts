import { gateTemplate } from '#core/domain/forge/gate-workflow.ts';
import { openSetupPull } from '#core/services/set-up/ci-gate.ts';
import { provisionRepo } from '#core/services/set-up/provisioning.ts';
import { verifyCiGate } from '#core/services/set-up/verify-ci-gate.ts';
import { BOT } from '../../../local/forge/fake-forge.ts';
import { givenObligations } from '../../builders/told-queue.ts';
import { openSetUpWorld, type SetUpWorld } from '../../support/set-up-world.ts';

/** A repository is renamed, and another one of its former name has a gate and the bot (decision 0355). */

jest.setTimeout(60_000);

const files = { '.forgejo/workflows/mq-gate.yaml': gateTemplate('mq', null) };
let world: SetUpWorld;
beforeEach(async () => {
  world = await openSetUpWorld({ files });
  const { id } = await world.api('GET', '');
  world.store.readObligations = async () => givenObligations({ repoId: Number(id) });
  await world.change({ wakeupMode: 'webhook', protectionRequested: true });
});
afterEach(() => world.close());

const takeName = async () => {
  await world.api('PATCH', '', { name: 'moved' });
  await world.fake.createRepo({ owner: 'acme', name: 'app', files, collaborators: { [BOT]: 'admin' } });
};

test('nothing is written there, and its gate proves nothing', async () => {
  await takeName();
  const refused = { kind: 'failed', code: 'forge_access_denied', refusal: 'replaced' };
  expect(await verifyCiGate(world.deps, await world.repo())).toEqual(refused);
  expect(await openSetupPull(world.deps, await world.repo())).toEqual(refused);
  expect((await provisionRepo(world.deps, await world.repo())).kind).toBe('replaced');
  expect(world.takeWrites()).toEqual([]);
});

test('a former name that leads to the renamed repository is told as that', async () => {
  await world.api('PATCH', '', { name: 'moved' });
  const moved = { kind: 'failed', code: 'forge_access_denied', refusal: 'moved' };
  expect(await verifyCiGate(world.deps, await world.repo())).toEqual(moved);
  expect(await openSetupPull(world.deps, await world.repo())).toEqual(moved);
  expect(world.takeWrites()).toEqual([]);
});

test('the repository itself is set up as before', async () => {
  expect((await provisionRepo(world.deps, await world.repo())).kind).toBe('done');
  expect(world.takeWrites()).toContain('POST hooks');
});
