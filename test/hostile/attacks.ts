import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers of a hostile forge to every call. */
export interface Attack {
  readonly name: string;
  answer(request: IncomingMessage, response: ServerResponse): void;
}

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

function always(name: string, body: string | Buffer, headers: Record<string, string> = {}): Attack {
  const bytes = Buffer.from(body);
  return {
    name,
    answer: (_, response) => void response.writeHead(200, { ...JSON_TYPE, ...headers }).end(bytes),
  };
}

/** Sends `piece` every `everyMs`, for ever. */
function drip(name: string, piece: Buffer, everyMs: number): Attack {
  return {
    name,
    answer: (_, response) => {
      response.writeHead(200, JSON_TYPE);
      const timer = setInterval(() => response.write(piece), everyMs);
      response.on('close', () => clearInterval(timer));
    },
  };
}

const emptyLists = (bytes: number): string => `[${'[],'.repeat(bytes / 3)}[]]`;
const wrongRows = (rows: number): string =>
  JSON.stringify(Array.from({ length: rows }, (_, number) => ({ number: String(number), head: null })));

/** Right in form, different at every call: ids, heads and trees that contradict each other. */
function lie(): Attack {
  let turn = 0;
  const id = (salt: number): string => `${turn}${salt}`.padStart(40, 'a').slice(-40);
  return {
    name: 'lies: other heads, trees and bases at every call',
    answer: (request, response) => {
      turn += 1;
      const path = request.url ?? '';
      const body = path.includes('/git/trees/')
        ? {
            sha: id(1),
            total_count: 1e9,
            tree: [{ path: `f${turn}`, mode: '100644', type: 'blob', size: 1, sha: id(2) }],
          }
        : path.includes('/branches/')
          ? { name: 'main', commit: { id: id(3) }, effective_branch_protection_name: '' }
          : path.includes('/pulls')
            ? [
                {
                  number: turn,
                  state: 'open',
                  head: { ref: 'x', sha: id(4) },
                  base: { ref: 'main', sha: id(5) },
                },
              ]
            : { id: turn, full_name: 'acme/app', version: '15.0.0', sha: id(6) };
      response.writeHead(200, { ...JSON_TYPE, 'x-total-count': '1000000' }).end(JSON.stringify(body));
    },
  };
}

export const ATTACKS: readonly Attack[] = [
  always('4 MiB of empty lists', emptyLists(4 * MIB)),
  always('2 MiB of nested lists', '['.repeat(MIB) + ']'.repeat(MIB)),
  always('9 MiB of wrong rows', wrongRows((9 * MIB) / 30)),
  always('100,000 rows of null', `[${'null,'.repeat(99_999)}null]`, { 'x-total-count': '100000' }),
  always('one string of 32 MiB', `"${'a'.repeat(32 * MIB)}"`),
  always('wrong types', '{"number":"one","head":[],"commit":7,"tree":{},"version":null}'),
  always('a page of HTML', '<html>'.repeat(MIB / 6), { 'content-type': 'text/html' }),
  always('a body that says it is compressed', Buffer.alloc(1024), { 'content-encoding': 'gzip' }),
  drip('a megabyte at a time, without end', Buffer.alloc(MIB, 0x20), 5),
  drip('one byte a second', Buffer.from('['), 1_000),
  { name: 'no answer', answer: () => undefined },
  { name: 'hangs up', answer: (request) => void request.socket.destroy() },
  {
    name: 'a header of 64 KiB',
    answer: (_, response) =>
      void response.writeHead(200, { ...JSON_TYPE, 'x-a': 'a'.repeat(65_536) }).end('[]'),
  },
  {
    name: 'redirects to itself',
    answer: (request, response) => void response.writeHead(307, { location: request.url ?? '/' }).end(),
  },
  lie(),
];
