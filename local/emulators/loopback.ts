import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Emulator } from './dynamo.ts';

/** An HTTP server on a free port of loopback. An answer that rejects ends its connection; `stop` ends all of them. */
export async function startOnLoopback(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Emulator> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Answer of a service that speaks JSON over POST with the operation in `x-amz-target`. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** As `startOnLoopback`, for such a service. `operation` has its prefix; whatever throws is answered as `refusal`. */
export async function startJsonService(
  answer: (operation: string, input: unknown) => Promise<JsonAnswer>,
  refusal: string,
): Promise<Emulator> {
  return startOnLoopback(async (request, response) => {
    const send = ({ status, body }: JsonAnswer): void => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(body));
    };
    try {
      const input: unknown = JSON.parse(await readText(request));
      send(await answer(String(request.headers['x-amz-target']), input));
    } catch {
      send({ status: 400, body: { __type: refusal } });
    }
  });
}
