import { startLoopbackHttps } from '../support/loopback-https.ts';
import { ATTACKS } from './attacks.ts';

/** The hostile forge as a process of its own: what it spends is not the engine's. */
process.once('message', async (name: string) => {
  const attack = ATTACKS.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`no attack is called ${name}`);
  const { origin, host, caPem } = await startLoopbackHttps((request, response) =>
    attack.answer(request, response),
  );
  process.send?.({ origin, host, caPem });
});
