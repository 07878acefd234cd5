import document from '../contract/api/shapes.json';

/** The contract's demand on a value; the language is explained in the file itself. */
export type Shape = string | readonly [Shape] | { readonly [name: string]: Shape };

const SHAPES: Readonly<Record<string, Shape>> = document.shapes as unknown as Record<string, Shape>;
const ANSWERS: Readonly<Record<string, Shape>> = document.answers as unknown as Record<string, Shape>;
const ERRORS: Readonly<Record<string, Shape>> = document.errors as unknown as Record<string, Shape>;

const UUID = 'aaaaaaaa-0000-4000-8000-000000000001';

interface Kind {
  readonly fits: (value: unknown) => boolean;
  readonly sample: unknown;
}
const text = (pattern: RegExp, sample: string): Kind => ({
  fits: (value) => typeof value === 'string' && pattern.test(value),
  sample,
});
const KINDS: Readonly<Record<string, Kind>> = {
  text: text(/^/, 'text'),
  time: text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, '2026-01-01T00:00:00.000Z'),
  uuid: text(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, UUID),
  slug: text(/^[^/]+\/[^/]+$/, 'acme/app'),
  word: text(/^[a-z][a-z_]*$/, 'word'),
  ticket: text(/^[0-9a-f]{64}$/, 'ab'.repeat(32)),
  flag: { fits: (value) => typeof value === 'boolean', sample: true },
  whole: { fits: Number.isSafeInteger, sample: 3 },
  whole_or_auto: { fits: (value) => value === 'auto' || Number.isSafeInteger(value), sample: 'auto' },
  number: { fits: (value) => typeof value === 'number' && Number.isFinite(value), sample: 0.5 },
};

/** The shape of an answer; undefined when the contract lists no fields for it. `route` is `GET /path/{id}`. */
export function answerShape(route: string, status: number): Shape | undefined {
  return ANSWERS[`${route.replaceAll(/\{(\w+)\}/g, '<$1>')} ${status}`];
}

/** The shape of the object in the envelope. */
export function errorShape(code: string): Shape {
  if (code === 'connection_identity_already_used') return ERRORS[code] ?? '';
  return { ...(ERRORS['*'] as object), ...(ERRORS[code] as object | undefined) };
}

export const ANSWER_KEYS: readonly string[] = Object.keys(ANSWERS);
export const shapeOf = (key: string): Shape | undefined => ANSWERS[key];

/** Where a value is not what the contract says, `path: what`; null when it is. */
export function findFault(shape: Shape, value: unknown, path = 'body'): string | null {
  if (typeof shape === 'string') return findTextFault(shape, value, path);
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return `${path}: no array`;
    return firstOf(value.map((each, index) => findFault(shape[0], each, `${path}[${index}]`)));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${path}: no object`;
  const given = new Map(Object.entries(value));
  const fields = fieldsOf(shape as { readonly [name: string]: Shape });
  const beyond = [...given.keys()].find((key) => !fields.some(([name]) => name === key || name === '*'));
  if (beyond !== undefined) return `${path}.${beyond}: not in the list`;
  return firstOf(
    fields.map(([name, each, optional]) => {
      if (name === '*')
        return firstOf([...given].map(([key, item]) => findFault(each, item, `${path}.${key}`)));
      if (!given.has(name)) return optional ? null : `${path}.${name}: absent`;
      return findFault(each, given.get(name), `${path}.${name}`);
    }),
  );
}

function findTextFault(shape: string, value: unknown, path: string): string | null {
  const nullable = shape.endsWith('?');
  const name = nullable ? shape.slice(0, -1) : shape;
  if (nullable && value === null) return null;
  if (name.startsWith('@')) return findFault(named(name), value, path);
  const fits = name.startsWith('=')
    ? value === literal(name)
    : name.includes('|')
      ? typeof value === 'string' && name.split('|').includes(value)
      : kind(name).fits(value);
  return fits ? null : `${path}: not ${shape}`;
}

/** A value that fits, with everything in it. */
export function sampleOf(shape: Shape): unknown {
  if (Array.isArray(shape)) return [sampleOf(shape[0])];
  if (typeof shape === 'object') {
    const fields = fieldsOf(shape as { readonly [name: string]: Shape });
    return Object.fromEntries(fields.map(([name, each]) => [name === '*' ? '1' : name, sampleOf(each)]));
  }
  const name = shape.replace(/\?$/, '');
  if (name.startsWith('@')) return sampleOf(named(name));
  if (name.startsWith('=')) return literal(name);
  return name.includes('|') ? name.split('|')[0] : kind(name).sample;
}

/** Name, shape, and whether it may be absent; fields of other shapes among them. */
function fieldsOf(shape: { readonly [name: string]: Shape }): (readonly [string, Shape, boolean])[] {
  return Object.entries(shape).flatMap(([name, each]) => {
    if (name === '...') return fieldsOf(named(`@${String(each)}`) as { readonly [name: string]: Shape });
    return [[name.replace(/\?$/, ''), each, name.endsWith('?')] as const];
  });
}

function named(reference: string): Shape {
  const shape = SHAPES[reference.slice(1)];
  if (shape === undefined) throw new Error(`no shape ${reference}`);
  return shape;
}

function kind(name: string): Kind {
  const found = KINDS[name];
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}

function literal(name: string): unknown {
  const said = name.slice(1);
  return /^(true|false|\d+)$/.test(said) ? JSON.parse(said) : said;
}

function firstOf(faults: readonly (string | null)[]): string | null {
  return faults.find((fault) => fault !== null) ?? null;
}
