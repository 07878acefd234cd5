import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const StageFile = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/**
 * The context of a deployment: what `<folder>/<stage>.json` says, and over that what was given with `-c`. The keys and their
 * values are those of `parseStageConfig`, which checks both alike. Throws where the file is not such a file.
 */
export function withStageFile(
  context: Readonly<Record<string, unknown>>,
  folder: string,
): Readonly<Record<string, unknown>> {
  const stage = String(context.stage ?? 'dev');
  const file = join(folder, `${stage}.json`);
  if (!/^\w+$/.test(stage) || !existsSync(file)) return context;
  const parsed = StageFile.safeParse(readJson(file));
  if (!parsed.success) throw new Error(`${file}: must be one object of texts, numbers, true and false`);
  const { stage: named = stage, ...values } = parsed.data;
  if (named !== stage) throw new Error(`${file}: says that it is the stage ${named}`);
  const given = Object.fromEntries(Object.entries(context).filter(([, value]) => value !== ''));
  return {
    ...Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)])),
    ...given,
  };
}

export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error(`${file}: is not JSON`);
  }
}
