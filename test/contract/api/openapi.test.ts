import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as z from 'zod';
import { buildOpenApi } from '#core/contracts/routes/openapi.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { PAYMENT_SIGNATURE_HEADER } from '#core/contracts/webhooks/payment-signature.ts';
import { BODY_FIELDS, type Material } from '../../conformance/values.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';

const TENANT = 'aaaaaaaa-0000-4000-8000-000000000001';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly schema: unknown }[];
  readonly requestBody: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: { readonly properties: Readonly<Record<string, unknown>> };
      };
    };
  };
}

describe('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(buildOpenApi('https://api.example.org')));

  test('is valid by the schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result.errors).toBeUndefined();
    expect([result.valid, validator.version]).toEqual([true, '3.1']);
  });

  test('a broken document would be told', async () => {
    const broken = { ...structuredClone(document), paths: { '/x': { get: { responses: 5 } } } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test('no field that may be sent is called one that must not be', () => {
    const bodies = Object.values<Record<string, Operation>>(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ requestBody }) => requestBody),
    );
    expect(JSON.stringify(bodies)).toContain('incident_labels');
    expect(JSON.stringify(bodies)).not.toContain('readOnly');
  });

  test('an answer, and a body that a webhook sends, may have fields that its schema does not name', () => {
    const answers = Object.values<Record<string, { readonly responses: unknown }>>(document.paths).flatMap(
      (operations) => Object.values(operations).map(({ responses }) => responses),
    );
    const sent = readFileSync('docs/webhook.schema.json', 'utf8');
    for (const told of [JSON.stringify(answers), JSON.stringify(JSON.parse(sent))]) {
      expect(told).toContain('"required":');
      expect(told).not.toContain('"additionalProperties":false');
    }
  });

  describe('a body’s field is described as strictly as it is validated', () => {
    const material: Material = {
      tokens: ['t'],
      tenantIds: [TENANT],
      adminKey: 'k',
      connectionIds: [TENANT],
      repoIds: [TENANT],
      apiTokens: [],
      owners: new Map(),
      botLogins: ['queue-bot'],
      forgeTokens: ['0f1e2d'],
      slugs: ['acme/app', 'a.b/c-d_e'],
      hook: null,
      instanceUrls: ['https://git.example.org', 'HTTPS://Git.Example.Org:8443/sub/'],
    };
    const operations = Object.values<Record<string, Operation>>(document.paths).flatMap(Object.values);
    const schemaOf = (operation: string, field: string) => {
      const found: Operation | undefined = operations.find(({ operationId }) => operationId === operation);
      const schema = found?.requestBody.content['application/json'].schema.properties[field];
      if (schema === undefined) throw new Error(`no field ${field} in ${operation}`);
      return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
    };
    const fields = Object.entries(BODY_FIELDS).flatMap(([operation, values]) =>
      Object.keys(values).map((field) => [operation, field] as const),
    );

    test.each(fields)('%s %s', (operation, field) => {
      const schema = schemaOf(operation, field);
      const values = BODY_FIELDS[operation]?.[field];
      // A confirmation is compared, not validated; an id is looked up.
      const told = (values?.bad ?? []).filter(
        (text) => !['confirm', 'connection_id'].includes(field) || !text.startsWith('"'),
      );
      const taken = told.filter((text) => schema.safeParse(JSON.parse(text)).success);
      expect(taken).toEqual([]);
      const random = createSeededRandom(1);
      const good = Array.from({ length: 40 }, () => values?.good(random, material) ?? '');
      const refused = good.filter((text) => text !== '' && !schema.safeParse(JSON.parse(text)).success);
      expect(refused).toEqual([]);
    });

    test.each([
      ['enrollRepo', 'repo_slug', ['./b', 'a/.', `${'a'.repeat(140)}/b`, 'a b/c']],
      [
        'enrollRepo',
        'base_branch',
        ['a//b', 'a/.b', 'a@{b', 'a.lock/b', 'mq/x', 'mq-work/x', '/a', 'a/', 'a.'],
      ],
      ['enrollRepo', 'status_context', ['  ']],
    ])('%s %s beyond', (operation, field, wrong) => {
      const schema = schemaOf(operation, field);
      expect(wrong.filter((value) => schema.safeParse(value).success)).toEqual([]);
    });

    test.each([
      [
        'chat_a_webhook_url',
        'https://hooks.slack.com/services/T/B/x',
        'https://discord.com/api/webhooks/1/x',
      ],
      [
        'chat_b_webhook_url',
        'https://discord.com/api/webhooks/1/x',
        'https://hooks.slack.com/services/T/B/x',
      ],
    ])('%s names the hosts that are taken', (field, right, wrong) => {
      const schema = schemaOf('updateRepo', 'notification');
      const others = [wrong, `${right}?q=1`, `${right}/../x`, right.replace('https', 'http'), 'x'];
      expect(schema.safeParse({ [field]: right }).success).toBe(true);
      expect(others.filter((value) => schema.safeParse({ [field]: value }).success)).toEqual([]);
    });

    test.each(['limit', 'offset'])('the query of %s', (name) => {
      const parameters = operations.find(({ operationId }) => operationId === 'searchRepos')?.parameters;
      const described = parameters?.find((each: { readonly name: string }) => each.name === name)?.schema;
      const schema = z.fromJSONSchema(described as z.core.JSONSchema.JSONSchema);
      const refused = ['', '-1', '1.5', 'x', '1e2', '9'.repeat(16), ...(name === 'limit' ? ['0', '00'] : [])];
      expect(refused.filter((value) => schema.safeParse(value).success)).toEqual([]);
      expect(['1', '10', '100'].filter((value) => !schema.safeParse(value).success)).toEqual([]);
    });
  });

  test('each webhook names the header that its signature is read from', () => {
    const headerOf = (path: string): string => {
      const [name = ''] = Object.keys(document.paths[path].post.security[0]);
      return document.components.securitySchemes[name].name.toLowerCase();
    };
    expect(headerOf('/api/v1/webhooks/forge')).toBe('x-hub-signature-256');
    expect(headerOf('/api/v1/payments/webhook')).toBe(PAYMENT_SIGNATURE_HEADER);
  });

  test('the body of the listing without a session is described, although its handler reads it', () => {
    const { schema } = document.paths['/api/v1/forge/repos'].post.requestBody.content['application/json'];
    expect(schema.required).toEqual(['instance_url', 'username', 'token']);
  });

  /** Names of bodies, queries and answers, however deep. */
  function fieldsOf(value: unknown): readonly string[] {
    if (typeof value !== 'object' || value === null) return [];
    if (Array.isArray(value)) return value.flatMap(fieldsOf);
    return Object.entries(value).flatMap(([key, inner]) =>
      key === 'properties'
        ? [...Object.keys(inner), ...Object.values(inner).flatMap(fieldsOf)]
        : fieldsOf(inner),
    );
  }

  test('has no field that the contract does not name (A62)', () => {
    // In code, not in prose.
    const code = readFileSync('docs/contract.md', 'utf8').match(/`[^`\n]+`/g) ?? [];
    const named = new Set(code.join(' ').match(/[a-z]\w*/gi));
    const fields = new Set(fieldsOf([document.paths, document.components]));
    expect(fields.size).toBeGreaterThan(200);
    expect([...fields].filter((field) => !named.has(field))).toEqual([]);
  });

  test('has every route once, under its own name', () => {
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(
      (path) => Object.values(path).map((operation) => operation.operationId),
    );
    expect(operations.sort()).toEqual(ROUTES.map((route) => route.id).sort());
  });
});
