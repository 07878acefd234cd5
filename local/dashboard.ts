import { readdirSync, readFileSync } from 'node:fs';
import {
  request as ask,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { extname, join, relative } from 'node:path';
import {
  DASHBOARD_CONFIG_PATH,
  type DashboardConfig,
  dashboardCaching,
  dashboardHeaders,
  type OfferedAccount,
} from '#core/contracts/internal/dashboard.ts';
import { buildDashboard } from '../lib/bundle-dashboard.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.map': 'application/json',
};
/** Paths of the API, whatever else is at the same address. */
const NOT_OURS = /^\/(api\/|readyz$|openapi\.json$)/;
/** The provider's calls that the page makes. One origin for page, API, socket and sign-in: the policy stays `'self'`. */
const SIGN_IN = /^\/auth\/v1\//;

export interface DashboardOptions {
  /** Folder for the built page. */
  readonly outDir: string;
  readonly identityUrl: string;
  readonly accounts: readonly OfferedAccount[];
}

/** Puts page, configuration and sign-in in front of the API, with the headers that the stack gives them. */
export async function serveDashboard(front: Server, options: DashboardOptions): Promise<void> {
  await buildDashboard({ outDir: options.outDir });
  const files = readFiles(options.outDir);
  const config: DashboardConfig = {
    sign_in: { kind: 'gotrue', url: '', api_key: '' },
    sign_up: 'open',
    sends_mail: true,
    accounts: options.accounts,
  };
  const serve = front.listeners('request').map((listener) => listener as RequestListener);
  front.removeAllListeners('request');
  front.on('request', (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    if (SIGN_IN.test(pathname)) return passOn(options.identityUrl, request, response);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && !NOT_OURS.test(pathname)) {
      if (pathname === DASHBOARD_CONFIG_PATH) return send(response, pathname, '.map', JSON.stringify(config));
      const file = files.get(pathname);
      if (file !== undefined) return send(response, pathname, extname(pathname), file);
      // Any other address of the page is one of its routes; who does not ask for a page gets the API's answer.
      const index = files.get('/index.html');
      if (index !== undefined && request.headers.accept?.includes('text/html') === true) {
        return send(response, pathname, '.html', index);
      }
    }
    for (const each of serve) each(request, response);
  });
}

function readFiles(folder: string): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [`/${relative(folder, file)}`, readFileSync(file)];
    }),
  );
}

function send(response: ServerResponse, path: string, type: string, body: string | Buffer): void {
  response
    .writeHead(200, {
      ...dashboardHeaders([]),
      'content-type': TYPES[type] ?? 'application/octet-stream',
      'cache-control': dashboardCaching(path),
    })
    .end(body);
}

function passOn(identityUrl: string, request: IncomingMessage, response: ServerResponse): void {
  const target = new URL(request.url ?? '/', identityUrl);
  const { authorization, 'content-type': type } = request.headers;
  const upstream = ask(
    target,
    {
      method: request.method ?? 'GET',
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(type === undefined ? {} : { 'content-type': type }),
      },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, {
        'content-type': answer.headers['content-type'] ?? 'application/json',
      });
      answer.pipe(response);
    },
  );
  upstream.on('error', () => response.writeHead(502).end());
  request.pipe(upstream);
}
