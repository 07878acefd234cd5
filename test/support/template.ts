import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Past } from './synthesize.ts';

export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is free-form JSON, and the assertions are its schema
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: readonly string[];
}

export interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

interface Document {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown; readonly Description: string }>>;
}

/** Everything that can change the template. */
const SOURCES = [
  'lib',
  'core/contracts',
  'core/domain',
  'lambdas',
  'test/support/synthesize.ts',
  'package-lock.json',
];

function hashSources(): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    hash.update(path).update(readFileSync(path));
  };
  for (const source of SOURCES) {
    if (/\.\w+$/.test(source)) add(source);
    else {
      const files = readdirSync(source, { recursive: true, withFileTypes: true });
      for (const file of files) if (file.isFile()) add(join(file.parentPath, file.name));
    }
  }
  return hash.digest('hex');
}

let sources: string | null = null;

/**
 * The template of a context. Loading the construct library takes longer than all assertions together, so a template is kept
 * by the hash of everything it is made from, for all workers and for later runs.
 */
export function readTemplate(context: Readonly<Record<string, string>> = {}, past: Past = {}): StackTemplate {
  sources ??= hashSources();
  const key = createHash('sha256')
    .update(sources + JSON.stringify([context, past]))
    .digest('hex')
    .slice(0, 32);
  const folder = resolve('node_modules/.cache/mergeyard-templates');
  const file = join(folder, `${key}.json`);
  if (!existsSync(file)) {
    const { synthesize }: typeof import('./synthesize.ts') = require('./synthesize.ts');
    mkdirSync(folder, { recursive: true });
    const own = `${file}.${randomUUID()}`;
    writeFileSync(own, JSON.stringify(synthesize(context, past).template.toJSON()));
    renameSync(own, file);
  }
  return new StackTemplate(JSON.parse(readFileSync(file, 'utf8')));
}

/** Everything that can be switched on, in one synthesis. */
export const FULL = {
  stage: 'prod',
  owner: 'platform',
  alarmEmail: 'ops@example.org',
  adminEmail: 'ada@example.org',
  signUp: 'open',
  notificationFrom: 'queue@example.org',
  monthlyBudgetUsd: '40',
  domainName: 'queue.example.org',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/abc',
  hostedZoneId: 'Z0123456789',
  waf: 'true',
  evidenceKey: 'true',
  engineImage: 'registry.example/engine@sha256:abc',
  paymentsPrices: 'pro.flat=price_1,team.flat=price_2',
};

/** Things that the operator has already: an identity provider, rules at the edge, and a network with a forge in it. */
export const BORROWED = {
  identityUrl: 'https://id.example.org',
  identityApiKey: 'anon',
  webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/own/1',
  publicUrl: 'https://own.example.org',
  vpcId: 'vpc-0123456789abcdef0',
  vpcSubnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  forgeAllowHosts: 'git.internal.example',
  forgeCaFile: 'test/support/forge-authority.pem',
};

export function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T];
}

export class StackTemplate {
  readonly resources: Document['Resources'];
  readonly outputs: Document['Outputs'];
  readonly conditions: Readonly<Record<string, unknown>>;

  constructor(document: Document) {
    this.resources = document.Resources;
    this.outputs = document.Outputs;
    this.conditions = document.Conditions ?? {};
  }

  ofType(type: string): [string, Resource][] {
    return Object.entries(this.resources).filter(([, resource]) => resource.Type === type);
  }

  /** The one resource of a type. */
  only(type: string): Resource {
    const [found, ...more] = this.ofType(type);
    if (found === undefined || more.length > 0) throw new Error(`${1 + more.length} resources of ${type}`);
    return found[1];
  }

  get(id: string): Resource {
    const found = this.resources[id];
    if (found === undefined) throw new Error(`no resource ${id}`);
    return found;
  }

  /** Construct names of all functions, by logical id. */
  functionNames(): ReadonlyMap<string, string> {
    return new Map(
      this.ofType('AWS::Lambda::Function').map(([id]) => [id, id.replace(/Function[0-9A-F]{8}$/, '')]),
    );
  }

  functionNamed(name: string): Resource {
    for (const [id, each] of this.functionNames()) if (each === name) return this.get(id);
    throw new Error(`no function ${name}`);
  }

  /** Statements of every policy, inline ones too, with the logical id of whom they are for. */
  statements(): (Statement & { readonly holder: string })[] {
    const policies = this.ofType('AWS::IAM::Policy').map(
      ([id, { Properties }]) =>
        [id.replace(/DefaultPolicy[0-9A-F]{8}$/, ''), Properties.PolicyDocument] as const,
    );
    const inline = this.ofType('AWS::IAM::Role').flatMap(([id, { Properties }]) =>
      (Properties.Policies ?? []).map(
        (policy: { PolicyDocument: unknown }) =>
          [id.replace(/[0-9A-F]{8}$/, ''), policy.PolicyDocument] as const,
      ),
    );
    return [...policies, ...inline].flatMap(([holder, document]) =>
      listOf<Statement>(document.Statement).map((statement) => ({ ...statement, holder })),
    );
  }

  allowed(): (Statement & { readonly holder: string })[] {
    return this.statements().filter((statement) => statement.Effect === 'Allow');
  }
}
