import { DisabledException, KMSInvalidStateException, NotFoundException } from '@aws-sdk/client-kms';
import { type KeyService, unwrapDataKey } from '#core/adapters/kms-vault/data-key.ts';
import { DAY_MS, MINUTE_MS } from '#core/domain/api-limits.ts';
import { VaultError } from '#core/ports/system.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { givenWorker } from './given-worker.ts';

const THROTTLED = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
const REFUSED = Object.assign(new Error('not yours'), { name: 'AccessDeniedException' });
const said = { $metadata: {}, message: 'of key 1' };

/** As the worker gets it from KMS. */
async function faultOf(error: Error): Promise<unknown> {
  const client = { send: async () => Promise.reject(error) } as unknown as KeyService;
  return unwrapDataKey(client, Buffer.from('x'), null).catch((fault: unknown) => fault);
}

/** https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html, Errors. */
test.each([
  ['is disabled', new DisabledException(said), 'DisabledException'],
  ['waits for its deletion', new KMSInvalidStateException(said), 'KMSInvalidStateException'],
  ['is gone', new NotFoundException(said), 'NotFoundException'],
  ['may not be used', REFUSED, 'AccessDeniedException'],
])('a key that %s is told by its fault, once a day while it lasts', async (_case, error, fault) => {
  const world = await givenWorker();
  world.refuseToken((await faultOf(error)) as VaultError);
  const lines = () => world.logged.filter((line) => line.startsWith('the credential key is refused'));
  const reconcile = async (): Promise<void> => {
    await wakeNow(world, 'repo-1');
    await dispatchReconcile(world.deps, 'repo-1');
  };
  for (let look = 0; look < 5; look += 1) {
    await reconcile();
    await world.clock.advance(MINUTE_MS);
  }
  expect(lines()).toEqual([expect.stringContaining(`"fault":"${fault}"`)]);
  await world.clock.advance(DAY_MS);
  await reconcile();
  expect(lines()).toHaveLength(2);
  expect(await world.outcome()).toMatchObject({ errorCode: 'engine_error' });
  expect(world.logged.join()).not.toContain(said.message);
});

test('a key service that does not answer for a moment is no fault of the key', async () => {
  expect(await faultOf(THROTTLED)).toMatchObject({ kind: 'unavailable', keyFault: null });
  const world = await givenWorker();
  world.refuseToken(new VaultError('unavailable'));
  await dispatchReconcile(world.deps, 'repo-1');
  expect(world.logged.join()).not.toContain('the credential key is refused');
});

/** A fault of the key has the code of every error of the service's own, and its own line. */
test('a key that is refused after another error of the service is told all the same, and a former refusal is none', async () => {
  const world = await givenWorker();
  const lines = () => world.logged.filter((line) => line.startsWith('the credential key is refused'));
  const reconcile = async (error: VaultError): Promise<void> => {
    world.refuseToken(error);
    await world.clock.advance(MINUTE_MS);
    await wakeNow(world, 'repo-1');
    await dispatchReconcile(world.deps, 'repo-1');
  };
  const disabled = (await faultOf(new DisabledException(said))) as VaultError;
  const silent = new VaultError('unavailable');
  await reconcile(silent);
  await reconcile(disabled);
  expect(lines()).toHaveLength(1);
  await reconcile(disabled);
  expect(lines()).toHaveLength(1);
  // It waits for its deletion by now: another fault, and another cure.
  await reconcile((await faultOf(new KMSInvalidStateException(said))) as VaultError);
  expect(lines()).toHaveLength(2);
  await reconcile(silent);
  await reconcile(disabled);
  expect(lines()).toHaveLength(3);
});
