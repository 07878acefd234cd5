import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type ProviderScript =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  /** Takes the request and never answers. */
  | 'silent'
  /** Begins an answer and never ends it. */
  | 'stalling'
  /** Closes the connection instead of answering. */
  | 'reset';

/** An identity provider on loopback that answers as it is told, and keeps what it was asked. */
export class ScriptedProvider {
  script: ProviderScript = { status: 500, json: {} };
  /** Beside those for its keys. */
  readonly requests: ProviderRequest[] = [];
  /** Answered where a provider publishes its keys. @default it has no such address */
  keys: ProviderScript = { status: 404, json: { code: 404 } };
  keyRequests = 0;
  url = '';
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const isForKeys = url.endsWith('/.well-known/jwks.json');
    if (isForKeys) this.keyRequests += 1;
    else this.requests.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
    const script = isForKeys ? this.keys : this.script;
    if (script === 'silent') return;
    if (script === 'reset') {
      request.socket.destroy();
      return;
    }
    if (script === 'stalling') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
      return;
    }
    const text = 'json' in script ? JSON.stringify(script.json) : script.text;
    const type = 'json' in script ? 'application/json' : 'text/html';
    response.writeHead(script.status, {
      'content-type': type,
      ...('headers' in script ? script.headers : {}),
    });
    response.end(text);
  }
}

/** A token of the usual form, without a true signature. */
export function makeToken(
  claims: Readonly<Record<string, unknown>>,
  header: object = { alg: 'RS256', typ: 'JWT' },
): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.c2lnbmF0dXJl`;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A provider's key: what it publishes, and tokens that it signed. */
export interface SigningKey {
  readonly published: Readonly<Record<string, unknown>>;
  sign(claims: Readonly<Record<string, unknown>>, header?: object): string;
}

export function makeSigningKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    published: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' },
    sign: (claims, header = {}) => {
      const body = `${encode({ alg: 'ES256', typ: 'JWT', kid, ...header })}.${encode(claims)}`;
      const signature = sign('sha256', Buffer.from(body), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${body}.${signature.toString('base64url')}`;
    },
  };
}
