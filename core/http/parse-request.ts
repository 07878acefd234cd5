import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '../contracts/errors.ts';
import { mayBeAbsent, type Parsed, type RouteSpec, type Schema } from '../contracts/routes/route-spec.ts';
import { JSON_BODY_BYTES_MAX } from '../domain/api-limits.ts';
import { readRawBody } from './lambda-http.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

type Fields = Readonly<Record<string, unknown>>;

/** Body and query as the route's schemas have them. Throws `AppError`; nothing was changed by then (A65). */
export function parseInput(
  route: RouteSpec,
  event: APIGatewayProxyEventV2,
): { readonly body: unknown; readonly query: unknown } {
  const query =
    route.query === undefined
      ? undefined
      : parseFields(route, route.query, event.queryStringParameters ?? {});
  const body =
    route.body === undefined ? undefined : parseFields(route, route.body, readObject(route, event));
  return { body, query };
}

function readObject(route: RouteSpec, event: APIGatewayProxyEventV2): Fields {
  const bytes = readRawBody(event);
  if (bytes.length > JSON_BODY_BYTES_MAX) throw new AppError('invalid_body');
  if (bytes.length === 0 && route.body !== undefined && mayBeAbsent(route.body)) return {};
  if (!JSON_TYPE.test(event.headers['content-type'] ?? '')) throw new AppError('invalid_body');
  return parseJsonObject(bytes);
}

export function parseJsonObject(bytes: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // Also a nesting that is too deep for the parser.
    throw new AppError('invalid_body');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new AppError('invalid_body');
  return { ...value };
}

/** First a field that is missing, then one that is wrong, each by name (A64). */
export function parseFields<Shape extends Schema>(
  route: Pick<RouteSpec, 'fieldErrors'>,
  schema: Shape,
  fields: Fields,
): Parsed<Shape> {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data as Parsed<Shape>;
  const { issues } = parsed.error;
  const missing = issues.find(
    (issue) => issue.path.length === 1 && !Object.hasOwn(fields, String(issue.path[0])),
  );
  const field = (missing ?? issues[0])?.path.map(String).join('.') ?? '';
  const code = route.fieldErrors?.[field.split('.')[0] ?? ''];
  if (code !== undefined) throw new AppError(code);
  throw new AppError(missing === undefined ? 'invalid_field' : 'missing_fields', { field });
}
