import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeSelfSigned } from './self-signed.ts';

export interface LoopbackServer {
  /** `host:port`, as an operator's allow-list has it. */
  readonly host: string;
  readonly origin: string;
  readonly caPem: string;
  /** Connections accepted so far. */
  connections(): number;
  close(): Promise<void>;
}

/** A real HTTPS server on a free loopback port, with a certificate of its own. */
export async function startLoopbackHttps(answer: RequestListener): Promise<LoopbackServer> {
  const { key, cert } = makeSelfSigned(['localhost', '127.0.0.1']);
  const server = createServer({ key, cert }, answer);
  let accepted = 0;
  server.on('secureConnection', () => {
    accepted += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    origin: `https://127.0.0.1:${port}`,
    caPem: cert,
    connections: () => accepted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function readRequestBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
