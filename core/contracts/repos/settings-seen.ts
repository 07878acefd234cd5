import * as z from 'zod';
import type { QueueSettings } from '../../domain/repos/repo-settings.ts';
import type { SettingsSeen } from '../../domain/repos/settings-file.ts';
import { FILE_SETTINGS, toSettings } from './repo-settings.ts';

/** The stored form of a settings file that was read. Its values are none but those that a file may give, each within its limits (A137). */
export const SettingsSeenShape = z.strictObject({
  commit: z.string().min(1),
  tree: z.string().min(1),
  since: z.number(),
  blob: z.string().min(1).nullable(),
  values: z.strictObject(FILE_SETTINGS),
  from: z.string().min(1).nullable(),
  problems: z
    .array(
      z.strictObject({
        line: z.int().min(1),
        column: z.int().min(1),
        key: z.string().nullable(),
        says: z.string(),
      }),
    )
    .optional(),
});

/** Reads a stored text; undefined: this version has not written it. */
export function readSettingsSeen(text: string): SettingsSeen | undefined {
  try {
    return SettingsSeenShape.parse(JSON.parse(text)) as SettingsSeen;
  } catch {
    return undefined;
  }
}

/** The settings that hold: those of the file before the stored ones, where the repository asks for the file. */
export function withFile<T extends QueueSettings>(repo: T, seen: SettingsSeen | undefined): T {
  return repo.settingsFile && seen !== undefined ? { ...repo, ...toSettings(seen.values) } : repo;
}
