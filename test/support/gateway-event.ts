import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { HttpSurface } from '#core/contracts/routes/route-spec.ts';
import { CATCH_ALL_SURFACE, ROUTES } from '#core/contracts/routes/routes.ts';

export interface CallOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
  readonly ip?: string;
}

interface Compiled {
  readonly key: string;
  readonly surface: HttpSurface;
  readonly method: string;
  readonly pattern: RegExp;
}

const COMPILED: readonly Compiled[] = ROUTES.map(({ method, path, surface }) => ({
  key: `${method} ${path}`,
  surface,
  method,
  pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

export function surfaceOf(routeKey: string): HttpSurface {
  return COMPILED.find(({ key }) => key === routeKey)?.surface ?? CATCH_ALL_SURFACE;
}

/** An event of payload format 2.0, with the route that the gateway would choose. */
export function toEvent(method: string, path: string, options: CallOptions): APIGatewayProxyEventV2 {
  const match = COMPILED.find((route) => route.method === method && route.pattern.test(path));
  const parts = Object.entries(match?.pattern.exec(path)?.groups ?? {});
  const body = options.body;
  const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
  const headers: Record<string, string> = {
    host: 'api.mergeyard.example',
    ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    ...(typeof options.token === 'string' ? { authorization: `Bearer ${options.token}` } : {}),
    ...options.headers,
  };
  return {
    version: '2.0',
    routeKey: match?.key ?? '$default',
    rawPath: path,
    rawQueryString: new URLSearchParams(options.query).toString(),
    headers,
    ...(options.cookies === undefined ? {} : { cookies: [...options.cookies] }),
    ...(options.query === undefined ? {} : { queryStringParameters: { ...options.query } }),
    ...(parts.length === 0
      ? {}
      : { pathParameters: Object.fromEntries(parts.map(([name, part]) => [name, decode(part)])) }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'api',
      domainName: 'api.mergeyard.example',
      domainPrefix: 'api',
      requestId: 'request-1',
      routeKey: match?.key ?? '$default',
      stage: '$default',
      time: '',
      timeEpoch: 0,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: options.ip ?? '198.51.100.7', userAgent: 'test' },
    },
    ...(text === undefined ? {} : { body: text }),
    isBase64Encoded: false,
  };
}

/** Escapes that are none stay as they are, as on the gateway. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
