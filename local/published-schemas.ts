import { toJsonSchema } from '#core/contracts/json-schema.ts';
import { NoticePayload } from '#core/contracts/notices/notice-payload.ts';
import { settingsFileSchema } from '#core/contracts/repos/settings-file.ts';

/** JSON schemas of the documents, by their files in `docs`. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, () => unknown>> = {
  'settings-file.schema.json': settingsFileSchema,
  'webhook.schema.json': () => toJsonSchema(NoticePayload),
};
