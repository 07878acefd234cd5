import type * as z from 'zod';
import { SET_UP_CHECKS, SET_UP_STATES } from '../../domain/set-up/set-up-checks.ts';
import { ERROR_TABLE, type ErrorCode } from '../errors.ts';
import { toJsonSchema } from '../json-schema.ts';
import { errorsOf, mayBeAbsent, type ReplyBody, type RouteAuth, type RouteSpec } from './route-spec.ts';
import { ROUTES } from './routes.ts';

type Json = Readonly<Record<string, unknown>>;

const ERROR_SCHEMA = '#/components/schemas/Error';

/** The requirement of each kind of auth; an empty list is "nothing". */
const SECURITY: Readonly<Record<RouteAuth, readonly Json[]>> = {
  bearer: [{ session: [] }],
  me: [{ session: [] }],
  session: [{}, { session: [] }, { cookie: [] }],
  admin: [{ session: [] }, { adminKey: [] }],
  operator: [{ session: [] }, { adminKey: [] }],
  socket: [{}, { cookie: [] }],
  signature: [{ signature: [] }],
  none: [],
};

/** The payment provider signs in a header of its own. */
const PAYMENT_SECURITY: readonly Json[] = [{ paymentSignature: [] }];

/** The API as an OpenAPI 3.1 document, made from the route table and nothing else. */
export function buildOpenApi(serverUrl: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of ROUTES as readonly RouteSpec[]) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = describeOperation(route);
    paths[route.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mergeyard',
      version: '1.0.0',
      description: 'A hosted batch merge queue for Forgejo and Gitea.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      schemas: { Error: describeError() },
      securitySchemes: {
        session: { type: 'http', scheme: 'bearer', description: 'Access token of the identity provider' },
        token: { type: 'http', scheme: 'bearer', description: 'API token with the scope that is named' },
        adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key' },
        cookie: { type: 'apiKey', in: 'cookie', name: '__Host-session' },
        signature: { type: 'apiKey', in: 'header', name: 'X-Hub-Signature-256' },
        paymentSignature: { type: 'apiKey', in: 'header', name: 'Stripe-Signature' },
      },
    },
  };
}

function describeOperation(route: RouteSpec): Json {
  const security = route.surface === 'webhooks-payments' ? PAYMENT_SECURITY : SECURITY[route.auth];
  const body = route.body ?? route.handlerBody;
  const parameters = [
    ...(route.path.includes('{id}')
      ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }]
      : []),
    ...(route.path.includes('{number}')
      ? [{ name: 'number', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }]
      : []),
    // Without it the answer says how to make one; so it is not required here.
    ...(route.forgeToken === true
      ? [{ name: 'X-Forge-Token', in: 'header', schema: { type: 'string' } }]
      : []),
    ...(route.query === undefined ? [] : describeQuery(route.query)),
    ...(route.auth === 'socket' ? [{ name: 'ticket', in: 'query', schema: { type: 'string' } }] : []),
  ];
  return {
    operationId: route.id,
    security: [...security, ...(route.scope === undefined ? [] : [{ token: [route.scope] }])],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !mayBeAbsent(body),
            content: { 'application/json': { schema: toSchema(body, 'input') } },
          },
        }),
    responses: describeResponses(route),
  };
}

function describeQuery(query: z.ZodType): Json[] {
  const schema = toSchema(query, 'input');
  const properties = schema.properties as Readonly<Record<string, Json>> | undefined;
  return Object.entries(properties ?? {}).map(([name, each]) => ({ name, in: 'query', schema: each }));
}

/** One entry per status: a body of its own, the envelope with its codes, or both. */
function describeResponses(route: RouteSpec): Json {
  const codes = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = ERROR_TABLE[code];
    codes.set(status, [...(codes.get(status) ?? []), code]);
  }
  const statuses = new Set([...Object.keys(route.replies).map(Number), ...codes.keys()]);
  const entries = [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const named = codes.get(status) ?? [];
      const description = named.length === 0 ? 'Success' : named.map((code) => `\`${code}\``).join(', ');
      const content = describeContent(route.replies[status], named);
      return [String(status), { description, ...(content === null ? {} : { content }) }] as const;
    });
  return Object.fromEntries(entries);
}

function describeContent(reply: ReplyBody | undefined, codes: readonly ErrorCode[]): Json | null {
  const envelope = codes.length === 0 ? [] : [describeEnvelope(codes)];
  if (reply === undefined) return { 'application/json': { schema: envelope[0] } };
  if (reply === null) return codes.length === 0 ? null : { 'application/json': { schema: envelope[0] } };
  if ('mediaType' in reply) {
    const [mediaType = ''] = reply.mediaType.split(';');
    return { [mediaType]: { schema: { type: 'string' } } };
  }
  const schema = toSchema(reply, 'output');
  return {
    'application/json': { schema: envelope.length === 0 ? schema : { anyOf: [schema, ...envelope] } },
  };
}

function describeEnvelope(codes: readonly ErrorCode[]): Json {
  return {
    allOf: [
      { $ref: ERROR_SCHEMA },
      { properties: { error: { properties: { code: { enum: [...codes] } } } } },
    ],
  };
}

function describeError(): Json {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code'],
        properties: {
          code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
          message: { type: 'string' },
          field: { type: 'string' },
          retryable: { type: 'boolean' },
          portal: { type: 'string' },
          checkout: { type: 'string' },
          checks: {
            type: 'array',
            items: {
              type: 'object',
              required: ['check', 'state', 'says', 'fix'],
              properties: {
                check: { type: 'string', enum: ['gate_file', ...SET_UP_CHECKS] },
                state: { type: 'string', enum: [...SET_UP_STATES] },
                says: { type: 'string' },
                fix: { type: ['string', 'null'] },
              },
            },
          },
          existing_tenant_id: { type: 'string', format: 'uuid' },
          existing_managed_repo_id: { type: 'string', format: 'uuid' },
        },
      },
    },
  };
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
