import { isObject, type Json, type JsonObject } from '../../core/ports/invocable.ts';
import { asList, asText, fail, type Template } from './template.ts';

/** The outcome of one resource: the value of `Ref` and of its attributes. */
export interface Physical {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export const LOCAL_REGION = 'us-east-1';
export const LOCAL_ACCOUNT = '000000000000';

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Region': LOCAL_REGION,
  'AWS::AccountId': LOCAL_ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': 'local',
  'AWS::StackId': `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/local/local`,
};

/** Turns intrinsic functions into values. What the run did not make cannot be referred to: that is an error, not a guess. */
export class Resolver {
  readonly #template: Template;
  readonly #physical = new Map<string, Physical>();
  /** Ports of containers, and theirs on loopback, where all share one address. */
  readonly #ports = new Map<string, string>();

  constructor(template: Template) {
    this.#template = template;
  }

  define(id: string, physical: Physical): void {
    this.#physical.set(id, physical);
  }

  definePort(containerPort: number, loopback: number): void {
    this.#ports.set(String(containerPort), String(loopback));
  }

  resolve(value: Json, where: string): Json {
    if (Array.isArray(value)) return value.map((entry) => this.resolve(entry, where));
    if (!isObject(value)) return value;
    const [key, ...others] = Object.keys(value);
    if (key === undefined || others.length > 0) return this.#resolveFields(value, where);
    const argument = value[key] ?? null;
    switch (key) {
      case 'Ref':
        return this.#ref(asText(argument, where), where);
      case 'Fn::GetAtt':
        return this.#attribute(argument, where);
      case 'Fn::Join': {
        const [separator, parts] = asList(argument, where);
        return asList(parts, where)
          .map((part) => this.text(part, where))
          .join(asText(separator, where));
      }
      case 'Fn::Sub':
        return this.#substitute(argument, where);
      case 'Fn::Select': {
        const [index, choices] = asList(argument, where);
        const list = asList(this.resolve(choices ?? null, where), where);
        return list[Number(this.text(index ?? null, where))] ?? fail(where, 'Fn::Select is out of range');
      }
      case 'Fn::Split': {
        const [separator, text] = asList(argument, where);
        return this.text(text ?? null, where).split(asText(separator, where));
      }
      default:
        if (key.startsWith('Fn::')) return fail(where, `${key} is not known here`);
        return this.#resolveFields(value, where);
    }
  }

  text(value: Json | undefined, where: string): string {
    return asText(this.resolve(value ?? null, where), where);
  }

  /** Values of an environment. A key that ends in `_PORT` names the port of a container: it gets the one on loopback. */
  environment(values: JsonObject, where: string): Record<string, string> {
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        const text = this.text(value, `${where}.${key}`);
        return [key, key.endsWith('_PORT') ? (this.#ports.get(text) ?? text) : text];
      }),
    );
  }

  #resolveFields(value: JsonObject, where: string): JsonObject {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, this.resolve(entry, `${where}.${key}`)]),
    );
  }

  #ref(name: string, where: string): string {
    return PSEUDO[name] ?? this.#physical.get(name)?.ref ?? fail(where, `nothing was made for Ref ${name}`);
  }

  #attribute(argument: Json, where: string): string {
    const [id, attribute] =
      typeof argument === 'string'
        ? argument.split('.')
        : asList(argument, where).map((part) => asText(part, where));
    if (id === undefined || attribute === undefined) return fail(where, 'Fn::GetAtt needs two parts');
    const found = this.#physical.get(id)?.attributes[attribute];
    return found ?? fail(where, `nothing was made for ${this.#template.get(id).type} ${id}.${attribute}`);
  }

  #substitute(argument: Json, where: string): string {
    const [format, values] = Array.isArray(argument) ? argument : [argument, {}];
    const own = isObject(values) ? values : {};
    return asText(format, where).replace(/\$\{(!?)([^}]+)\}/g, (_whole, literal: string, name: string) => {
      if (literal === '!') return `\${${name}}`;
      const given = own[name];
      if (given !== undefined) return this.text(given, where);
      return name.includes('.') ? this.#attribute(name, where) : this.#ref(name, where);
    });
  }
}
