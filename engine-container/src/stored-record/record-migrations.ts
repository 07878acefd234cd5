import * as z from 'zod';

/**
 * Formats of the stored record, one step each. A release writes a format that the release before it reads, and reads the one
 * that the release after it will write: during a deployment both work on the same records, and one that is rolled back finds
 * what the newer has written. So a format is read one release before it is written.
 */
export const WRITTEN_FORMAT = 2;
export const NEWEST_FORMAT = 3;

type Document = Readonly<Record<string, unknown>>;
/** From its own number to the next. Null: this is no record of that format. */
type Step = (document: Document) => Document | null;

const sha = z.string().min(1);
const First = z.looseObject({
  line: z.array(z.looseObject({})),
  root: z.looseObject({ tip: sha, nodes: z.array(z.looseObject({})) }).nullable(),
  rate: z.object({ landed: z.number(), bounced: z.number() }),
});

/** Before several batches could be in flight: its one batch is the whole lane. */
const toSecond: Step = (document) => {
  const first = First.safeParse(document);
  if (!first.success) return null;
  const { root, line, rate, ...rest } = first.data;
  const batch = root && {
    ...root,
    nodes: root.nodes.map((node) => ({ ...node, load: 1 })),
    place: 'lane',
    onto: null,
    released: 0,
  };
  return {
    ...rest,
    line: line.map((entry) => ({ ...entry, cleared: false })),
    roots: batch === null ? [] : [batch],
    tip: root === null ? null : root.tip,
    rate: { ...rate, steady: 0, flaked: 0, paces: [] },
  };
};

const Reading = z.object({
  reviews: z.array(z.object({ count: z.unknown().optional() })).nullish(),
});
type Reading = z.infer<typeof Reading>;
const Second = z.object({
  line: z.array(z.object({ doubt: z.unknown().optional() })),
  readings: z.array(Reading),
});

/**
 * Before suspects could go on in the queue an entry had no failure probability. Before reviews were counted a reading held
 * every one of them: it is made again.
 */
const toThird: Step = (document) => {
  if (!isSecond(document)) return null;
  const { line, readings } = document;
  const isUncounted = ({ reviews }: Reading) => reviews?.some(({ count }) => count === undefined) === true;
  return {
    ...document,
    line: line.every(({ doubt }) => doubt !== undefined)
      ? line
      : line.map((entry) => ({ doubt: null, ...entry })),
    readings: readings.some(isUncounted)
      ? readings.map((each) => (isUncounted(each) ? { ...each, reviews: null } : each))
      : readings,
  };
};

/** Not the copy that the check makes: objects that are built key by key are slow, and all of a reconcile works on these. */
function isSecond(document: Document): document is z.infer<typeof Second> {
  return Second.safeParse(document).success;
}

/** By the format that each starts from. */
const STEPS: Readonly<Record<number, Step>> = { 1: toSecond, 2: toThird };

/** Built once: a schema that is built for each document costs more than all it checks. */
const Known = z.object({ schema: z.int().min(1).max(NEWEST_FORMAT) });

/** The document in the newest format. Null: it is of none that this release knows. */
export function migrate(stored: unknown): Document | null {
  const known = Known.safeParse(stored);
  if (!known.success) return null;
  let document = stored as Document;
  for (let format = known.data.schema; format < NEWEST_FORMAT; format += 1) {
    const next = STEPS[format]?.(document) ?? null;
    if (next === null) return null;
    document = { ...next, schema: format + 1 };
  }
  return document;
}
