import type * as z from 'zod';
import type { ClientRouteId, ResultOf } from '#core/contracts/routes/client.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';

type Item<T> = T extends readonly (infer Each)[] ? Each : T;

/** The fields without which a command has nothing to say; of a list, those of each of its rows. */
const NEEDED = {
  listRepos: ['id', 'name', 'base_branch'],
  updateRepo: ['name', 'base_branch'],
  pauseRepo: ['name', 'base_branch'],
  drainRepo: ['name', 'base_branch'],
  resumeRepo: ['name', 'base_branch'],
  readQueueStatus: ['repos'],
  readActivity: ['repos', 'recent_activity'],
  readPull: ['number', 'now'],
  readEvents: ['events'],
  readGateLog: ['jobs'],
  readFanoutAdvice: ['replays'],
  enqueuePull: ['number', 'head'],
  readCommitEvidence: ['payloadType', 'payload', 'signatures'],
  readEvidenceKey: ['public_key'],
} as const satisfies { readonly [Id in ClientRouteId]?: readonly (keyof Item<ResultOf<Id>>)[] };

/**
 * Whether a parsed JSON value is an answer of this route. A service of another release may leave fields out, add fields
 * and know other words, so only the fields in `NEEDED` have to be there; a field that is there has to be of its type.
 */
export function isAnswer(id: ClientRouteId, value: unknown): boolean {
  const route = ROUTES.find((each) => each.id === id);
  if (route === undefined || value === undefined) return true;
  const needed: readonly string[] = Object.entries(NEEDED).find(([name]) => name === id)?.[1] ?? [];
  const rows: readonly unknown[] = Array.isArray(value) ? value : [value];
  const hasAll = rows.every((row) => needed.every((name) => readAt(row, name) !== undefined));
  const shapes = Object.values(route.replies).filter((reply) => reply !== null && '_zod' in reply);
  return (
    hasAll &&
    shapes.every((shape) => !(shape.safeParse(value).error?.issues ?? []).some(isOfOtherKind(value)))
  );
}

/**
 * Whether an issue of the schema is a value of another type. An absent field is none. Null is taken for a text, a
 * number or a boolean, and for no list or object.
 */
const isOfOtherKind =
  (value: unknown) =>
  (issue: z.core.$ZodIssue): boolean => {
    const at = issue.path.reduce(readAt, value);
    if (issue.code === 'invalid_union')
      return issue.errors.length > 0 && issue.errors.every((branch) => branch.some(isOfOtherKind(at)));
    if (issue.code !== 'invalid_type' || at === undefined) return false;
    return at !== null || ['object', 'array', 'record'].includes(issue.expected);
  };

const readAt = (value: unknown, name: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
