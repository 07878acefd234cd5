import { readBody } from './wire/read-body.ts';
import { BotUser } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Login of the token's owner. */
export async function readBotLogin(transport: ForgeTransport): Promise<string> {
  const call = { method: 'GET', label: 'GET user', path: ['user'] } as const;
  return readBody(BotUser, call, await transport.request(call)).login;
}
