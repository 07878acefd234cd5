import { isObject, type Json, type JsonObject } from '../../core/ports/invocable.ts';
/** A CloudFormation template as far as a local run needs to understand it. */

export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly properties: JsonObject;
}

/** Throws with the path of what is missing: a template that cannot be run must not half run. */
export function fail(where: string, what: string): never {
  throw new Error(`template: ${where}: ${what}`);
}

export function asObject(value: Json | undefined, where: string): JsonObject {
  return isObject(value) ? value : fail(where, 'is not an object');
}

export function asList(value: Json | undefined, where: string): readonly Json[] {
  return Array.isArray(value) ? value : fail(where, 'is not a list');
}

export function asText(value: Json | undefined, where: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : fail(where, 'is not a text');
}

export function asNumber(value: Json | undefined, where: string): number {
  const number = Number(value);
  return value === undefined || value === null || Number.isNaN(number)
    ? fail(where, 'is not a number')
    : number;
}

export class Template {
  readonly #resources: ReadonlyMap<string, Resource>;
  readonly outputs: JsonObject;

  constructor(document: Json) {
    const root = asObject(document, 'document');
    const entries = Object.entries(asObject(root.Resources, 'Resources')).map(([id, value]) => {
      const raw = asObject(value, id);
      const properties = raw.Properties === undefined ? {} : asObject(raw.Properties, id);
      return [id, { id, type: asText(raw.Type, id), properties }] as const;
    });
    this.#resources = new Map(entries);
    this.outputs = root.Outputs === undefined ? {} : asObject(root.Outputs, 'Outputs');
  }

  get(id: string): Resource {
    return this.#resources.get(id) ?? fail(id, 'no such resource');
  }

  ofType(...types: readonly string[]): readonly Resource[] {
    return [...this.#resources.values()].filter((resource) => types.includes(resource.type));
  }

  /** Logical id behind `{Ref}` or `{Fn::GetAtt}`. */
  target(value: Json | undefined, where: string): Resource {
    const node = asObject(value, where);
    if (node.Ref !== undefined) return this.get(asText(node.Ref, where));
    return this.get(asText(asList(node['Fn::GetAtt'], where)[0], where));
  }
}
