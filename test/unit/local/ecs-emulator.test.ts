import { ECSClient } from '@aws-sdk/client-ecs';
import { createEngineDirectory } from '#core/adapters/ecs/engine-directory.ts';
import { type ScalableService, startEcs } from '../../../local/emulators/ecs.ts';
import { LOCAL_AWS } from '../../support/local-aws.ts';

test('the engine is found through the emulator while it runs, and nowhere while it sleeps', async () => {
  const service = { names: ['arn:engine', 'engine'], wanted: 1, running: 1, changedAt: 0 };
  const emulator = await startEcs([{ ...service, scale: async () => {} } satisfies ScalableService]);
  const asleep = await startEcs([{ ...service, wanted: 0, running: 0, scale: async () => {} }]);
  const list = async (endpoint: string) => {
    const client = new ECSClient({ endpoint, ...LOCAL_AWS });
    const directory = createEngineDirectory({
      client,
      cluster: 'c',
      service: 'engine',
      port: 4321,
      clock: { monotonic: () => 0 },
    });
    return directory.list({ fresh: false }).finally(() => client.destroy());
  };
  try {
    expect(await list(emulator.endpoint)).toEqual(['http://127.0.0.1:4321']);
    expect(await list(asleep.endpoint)).toEqual([]);
  } finally {
    await Promise.all([emulator.stop(), asleep.stop()]);
  }
});
