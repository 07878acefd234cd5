import { Validator } from '@seriousme/openapi-schema-validator';
import { buildOpenApi } from '#core/contracts/openapi.ts';
import { ROUTES } from '#core/contracts/routes.ts';

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

  test('has every route once, under its own name', () => {
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(
      (path) => Object.values(path).map((operation) => operation.operationId),
    );
    expect(operations.sort()).toEqual(ROUTES.map((route) => route.id).sort());
  });
});
