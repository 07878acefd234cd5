import { createForgeTransport, type ForgeTransport } from '#core/adapters/forge-http/transport.ts';
import { Secret } from '#core/secret.ts';
import { type ScriptedAnswer, type SeenRequest, scriptForge } from './scripted-forge.ts';

/** A transport whose forge is a function; `seen` fills as it is asked. */
export function openScripted(respond: (request: SeenRequest, nth: number) => ScriptedAnswer): {
  readonly transport: ForgeTransport;
  readonly seen: SeenRequest[];
} {
  const { send, seen } = scriptForge(respond);
  const transport = createForgeTransport({
    instanceUrl: 'https://forge.test',
    slug: 'acme/app',
    token: new Secret('t'),
    send,
    clock: { now: () => 0 },
  });
  return { transport, seen };
}
