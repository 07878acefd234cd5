import type { z } from 'zod';
import { readBody } from './wire/read-body.ts';
import { BotUser } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Login of the token's owner. */
export async function readBotLogin(transport: ForgeTransport): Promise<string> {
  return (await readUser(transport)).login;
}

/** The token of a job has an account of a number below zero, which no table of users has (forge facts, 3.5). */
export async function readAccount(
  transport: ForgeTransport,
): Promise<{ readonly login: string; readonly isJob: boolean }> {
  const { login, id = 0 } = await readUser(transport);
  return { login, isJob: id < 0 };
}

async function readUser(transport: ForgeTransport): Promise<z.infer<typeof BotUser>> {
  const call = { method: 'GET', label: 'GET user', path: ['user'] } as const;
  return readBody(BotUser, call, await transport.request(call));
}
