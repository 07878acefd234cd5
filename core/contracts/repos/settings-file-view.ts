import * as z from 'zod';
import type { QueueSettings } from '../../domain/repos/repo-settings.ts';
import type { SettingsSeen } from '../../domain/repos/settings-file.ts';
import { formatTimeOrNull, Time } from '../fields.ts';
import { FILE_SETTINGS, type FileName, SHOWN_SETTINGS, toShownSettings } from './repo-settings.ts';
import { withFile } from './settings-seen.ts';

/**
 * `off`: the repository does not ask for the file. `unread`: no look has read it yet. `missing`: the base has none. `wrong`: the
 * values from before it stay in force.
 */
const FILE_STATES = ['off', 'unread', 'missing', 'right', 'wrong'] as const;

const NAMES = Object.keys(FILE_SETTINGS) as FileName[];

/** One entry for each setting that the file may set. */
function mapNames<T>(toValue: (name: FileName) => T): Readonly<Record<FileName, T>> {
  return Object.fromEntries(NAMES.map((name) => [name, toValue(name)])) as Record<FileName, T>;
}

function held(name: FileName) {
  return z.object({ value: SHOWN_SETTINGS[name] as z.ZodType, origin: z.enum(['page', 'file']) });
}

/** The settings file of a repository, and what holds by it. */
export const FileSettingsView = z.object({
  state: z.enum(FILE_STATES),
  /** Tip of the base at which the file was read last; null: it was not. */
  commit: z.string().nullable(),
  /** First look that saw the file as it is. */
  since: Time.nullable(),
  /** Commit at which the file in force was first seen; null: none is. */
  from: z.string().nullable(),
  problems: z.array(
    z.object({ line: z.int(), column: z.int(), key: z.string().nullable(), says: z.string() }),
  ),
  /** The value that holds, and where it comes from: the stored one is that of the page. */
  values: z.object(mapNames(held)),
});

export function toFileSettings(
  repo: QueueSettings,
  seen: SettingsSeen | undefined,
): z.infer<typeof FileSettingsView> {
  const asked = repo.settingsFile ? seen : undefined;
  const holds = toShownSettings(withFile(repo, asked));
  const given = asked?.values ?? {};
  return {
    state: stateOf(repo, asked),
    commit: asked?.commit ?? null,
    since: formatTimeOrNull(asked?.since),
    from: asked?.from ?? null,
    problems: [...(asked?.problems ?? [])],
    values: mapNames((name) => ({
      value: holds[name],
      origin: Object.hasOwn(given, name) ? ('file' as const) : ('page' as const),
    })),
  };
}

function stateOf(
  { settingsFile }: QueueSettings,
  seen: SettingsSeen | undefined,
): (typeof FILE_STATES)[number] {
  if (!settingsFile) return 'off';
  if (seen === undefined) return 'unread';
  if (seen.problems !== undefined) return 'wrong';
  return seen.blob === null ? 'missing' : 'right';
}
