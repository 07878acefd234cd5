import * as z from 'zod';

type Options = Pick<NonNullable<Parameters<typeof z.toJSONSchema>[1]>, 'io' | 'unrepresentable'>;

/**
 * The JSON schema of a value, for other programs. Without `readOnly`, which the library writes for `readonly()`: that is
 * a promise of TypeScript alone, and in a schema it asks clients not to send the value. What the service sends is open
 * for further fields: by a closed schema a client would refuse the first one that is added (contract, Versions).
 */
export function toJsonSchema(schema: z.ZodType, options: Options = {}): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, {
    ...options,
    override: ({ jsonSchema }) => {
      delete jsonSchema.readOnly;
      if (options.io !== 'input' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
    },
  });
}
