import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Emulator } from './dynamo.ts';
import { readText, startOnLoopback } from './loopback.ts';

export interface SentMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The mail service's one call, with an outbox in place of the world. */
export interface EmailEmulator extends Emulator {
  readonly outbox: readonly SentMail[];
  /** The fate of the next mails. @default `accept` */
  mood: 'accept' | 'reject' | 'throttle' | 'fail' | 'silent';
}

export interface EmailOptions {
  /** Gets one JSON object per mail. @default none */
  readonly file?: string;
  /** Verified senders, addresses or domains. @default all */
  readonly verified?: readonly string[];
}

const REFUSALS = {
  reject: [400, 'MessageRejected'],
  throttle: [429, 'TooManyRequestsException'],
  fail: [500, 'InternalFailure'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export async function startEmail(options: EmailOptions = {}): Promise<EmailEmulator> {
  const outbox: SentMail[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readText(request);
    if (request.method !== 'POST' || request.url !== '/v2/email/outbound-emails') {
      return refuse(response, 404, 'NotFoundException');
    }
    if (emulator.mood === 'silent') return;
    if (emulator.mood !== 'accept') {
      const [status, type] = REFUSALS[emulator.mood];
      return refuse(response, status, type);
    }
    const mail = readMail(body);
    if (mail === null) return refuse(response, 400, 'BadRequestException');
    if (!isVerified(mail.from, options.verified)) return refuse(response, 400, 'MessageRejected');
    outbox.push(mail);
    if (options.file !== undefined)
      appendFileSync(options.file, `${JSON.stringify(mail)}\n`, { mode: 0o600 });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ MessageId: randomUUID() }));
  };
  const emulator: EmailEmulator = { ...(await startOnLoopback(answer)), outbox, mood: 'accept' };
  return emulator;
}

function isVerified(from: string, verified: readonly string[] | undefined): boolean {
  return verified === undefined || verified.some((each) => from === each || from.endsWith(`@${each}`));
}

function refuse(response: ServerResponse, status: number, type: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-ErrorType': type });
  response.end(JSON.stringify({ message: 'refused' }));
}

interface SendEmail {
  readonly FromEmailAddress?: string;
  readonly Destination?: { readonly ToAddresses?: readonly string[] };
  readonly Content?: {
    readonly Simple?: {
      readonly Subject?: { readonly Data?: string };
      readonly Body?: { readonly Text?: { readonly Data?: string } };
      readonly Headers?: readonly { readonly Name: string; readonly Value: string }[];
    };
  };
}

/** Null for what the service calls a bad request. */
function readMail(body: string): SentMail | null {
  const mail: SendEmail = JSON.parse(body);
  const from = mail.FromEmailAddress;
  const to = mail.Destination?.ToAddresses ?? [];
  const subject = mail.Content?.Simple?.Subject?.Data;
  const text = mail.Content?.Simple?.Body?.Text?.Data;
  if (from === undefined || subject === undefined || text === undefined || to.length === 0) return null;
  if (/[\r\n]/.test(subject) || to.some((each) => !/^[^@\s]+@[^@\s]+$/.test(each))) return null;
  const given = mail.Content?.Simple?.Headers ?? [];
  const headers = Object.fromEntries(given.map(({ Name, Value }) => [Name, Value]));
  return { from, to, subject, text, headers };
}
