import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Json } from '../../core/ports/invocable.ts';
import { readText } from './loopback.ts';

export interface ChatMessage {
  readonly path: string;
  readonly body: { readonly [key: string]: Json };
}

/** Both chat services and a homeserver of Matrix: webhooks and rooms that exist or do not, messages that they take or refuse, as their documentation says. */
export interface FakeChat {
  /** To be served over HTTPS. */
  readonly answer: RequestListener;
  readonly messages: readonly ChatMessage[];
  /** Requests of any kind so far. */
  requests: number;
  /** Paths of webhooks that exist. */
  readonly webhooks: Set<string>;
  /** The fate of the next messages; `busy`: the first comes too soon, and the others do not. @default `accept` */
  mood: 'accept' | 'busy' | 'limit' | 'fail' | 'silent' | 'redirect' | 'flood';
}

const CONTENT_CHARS_MAX = 2_000;
const BLOCK_TEXT_CHARS_MAX = 3_000;
const MATRIX_ROOMS = '/_matrix/client/v3/rooms/';
const FLOOD_BYTES = 1024 * 1024;

interface Room {
  readonly room: string;
  readonly token: string;
}

export function createFakeChat(webhooks: readonly string[], rooms: readonly Room[] = []): FakeChat {
  const messages: ChatMessage[] = [];
  const transactions = new Set<string>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    chat.requests += 1;
    const body = await readText(request);
    const send = (status: number, text: string, headers: Record<string, string> = {}): void => {
      response.writeHead(status, headers).end(text);
    };
    switch (chat.mood) {
      case 'silent':
        return;
      case 'limit':
        return send(429, 'rate_limited', { 'retry-after': '30' });
      case 'busy':
        chat.mood = 'accept';
        return send(429, 'rate_limited', { 'retry-after': '1' });
      case 'fail':
        return send(503, 'upstream');
      case 'redirect':
        return send(307, '', { location: 'https://127.0.0.1/inside' });
      case 'flood':
        return send(200, 'x'.repeat(FLOOD_BYTES));
      case 'accept': {
        const path = request.url ?? '';
        if (path.startsWith(MATRIX_ROOMS)) {
          const status = isKnownRoom(rooms, path, request.headers.authorization);
          if (status !== 200) return send(status, '{"errcode":"M_FORBIDDEN"}');
          // A transaction that was taken before is answered, and nothing is sent again.
          if (!transactions.has(path)) messages.push({ path, body: JSON.parse(body) });
          transactions.add(path);
          return send(200, '{"event_id":"$1"}');
        }
        if (request.method !== 'POST' || !chat.webhooks.has(path)) return send(404, 'no_service');
        const message = readMessage(path, body);
        if (message === null) return send(400, 'invalid_payload');
        messages.push(message);
        return path.startsWith('/services/') ? send(200, 'ok') : send(204, '');
      }
    }
  };
  const chat: FakeChat = {
    answer: (request, response) => {
      answer(request, response).catch(() => response.destroy());
    },
    messages,
    requests: 0,
    webhooks: new Set(webhooks),
    mood: 'accept',
  };
  return chat;
}

/** As the client-server API has it: 401 for a token that is unknown, 403 for a room that its account is not in. */
function isKnownRoom(rooms: readonly Room[], path: string, authorization = ''): 200 | 401 | 403 {
  const ofToken = rooms.filter(({ token }) => authorization === `Bearer ${token}`);
  if (ofToken.length === 0) return 401;
  const room = decodeURIComponent(path.slice(MATRIX_ROOMS.length).split('/')[0] ?? '');
  return ofToken.some((each) => each.room === room) ? 200 : 403;
}

/** Null for what the service would refuse. */
function readMessage(path: string, text: string): ChatMessage | null {
  let body: { readonly [key: string]: Json };
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  if (path.startsWith('/services/')) return hasGoodBlocks(body) ? { path, body } : null;
  const { content } = body;
  const fits = typeof content === 'string' && content !== '' && content.length <= CONTENT_CHARS_MAX;
  return fits ? { path, body } : null;
}

function hasGoodBlocks(body: { readonly [key: string]: Json }): boolean {
  const blocks = Array.isArray(body.blocks) ? body.blocks : [];
  const texts = blocks.map((block) => {
    const inner = typeof block === 'object' && block !== null && 'text' in block ? block.text : null;
    return typeof inner === 'object' && inner !== null && 'text' in inner ? inner.text : null;
  });
  return (
    typeof body.text === 'string' &&
    texts.length > 0 &&
    texts.every((each) => typeof each === 'string' && each !== '' && each.length <= BLOCK_TEXT_CHARS_MAX)
  );
}
