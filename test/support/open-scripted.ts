import { createLeasedTransport, type LeasedTransport } from '#core/adapters/forge-http/wire/transport.ts';
import type { HttpSendErrorKind } from '#core/adapters/http-guard/http-send.ts';
import { Secret } from '#core/secret.ts';
import { givenHeldLease } from '../builders/held-lease.ts';
import { type ScriptedAnswer, type SeenRequest, scriptForge } from './scripted-forge.ts';

/** A transport whose forge is a function; `seen` fills as it is asked. */
export function openScripted(
  respond: (request: SeenRequest, nth: number) => ScriptedAnswer | HttpSendErrorKind,
): {
  readonly transport: LeasedTransport;
  readonly seen: SeenRequest[];
} {
  const { send, seen } = scriptForge(respond);
  const transport = createLeasedTransport(givenHeldLease(), {
    instanceUrl: 'https://forge.test',
    slug: 'acme/app',
    token: new Secret('t'),
    send,
    clock: { now: () => 0 },
  });
  return { transport, seen };
}
