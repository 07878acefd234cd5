import { STATUS_DESCRIPTION_CHARS_MAX } from '../../domain/limits.ts';
import { SETTINGS_FILE } from '../../domain/queue/queue-names.ts';
import type { QueueSettings } from '../../domain/repos/repo-settings.ts';
import {
  type FileProblem,
  type FileValues,
  type SettingsWords,
  sayProblems,
} from '../../domain/repos/settings-file.ts';
import { FILE_SETTINGS, toSettings, toShownSettings } from './repo-settings.ts';
import { compareSettings, type SettingChange, type SettingsFile } from './settings-file.ts';

/** Labels that a file names may be long. */
const SETTINGS_WORDS_CHARS_MAX = 600;

/**
 * The words about a file that is to follow one with the values `before`; null: no setting would change. Of the file's own words
 * the short form has none, as it stands in a status (A38).
 */
export function tellSettingsChange(
  stored: QueueSettings,
  before: FileValues,
  file: SettingsFile,
): SettingsWords | null {
  if (!file.ok) return sayWrong(file.problems);
  const [old, next] = [before, file.settings].map((values) =>
    toShownSettings({ ...stored, ...toSettings(values) }),
  );
  const named = Object.entries(next ?? {}).filter(([name]) => Object.hasOwn(FILE_SETTINGS, name));
  const changes = compareSettings({ ...old }, Object.fromEntries(named));
  if (changes.length === 0) return null;
  return {
    short: cut(
      `queued: ${SETTINGS_FILE} would set ${changes.map(sayShort).join('; ')}`,
      STATUS_DESCRIPTION_CHARS_MAX,
    ),
    says: cut(changes.map(sayWhole).join('; '), SETTINGS_WORDS_CHARS_MAX),
  };
}

function sayWrong(problems: readonly FileProblem[]): SettingsWords {
  const places = problems
    .slice(0, 3)
    .map(({ line, key }) =>
      key !== null && Object.hasOwn(FILE_SETTINGS, key) ? `line ${line} (${key})` : `line ${line}`,
    );
  const short = `queued: ${SETTINGS_FILE} would be wrong at ${places.join(', ')}, so no setting would change`;
  return {
    short: cut(short, STATUS_DESCRIPTION_CHARS_MAX),
    says: cut(`wrong, so nothing would change: ${sayProblems(problems)}`, SETTINGS_WORDS_CHARS_MAX),
  };
}

function sayShort({ key, from, to }: SettingChange): string {
  return Array.isArray(to) ? `${key} (${to.length})` : `${key} ${String(from)} -> ${String(to)}`;
}

function sayWhole({ key, from, to }: SettingChange): string {
  const [old, next] = [from, to].map((value) =>
    Array.isArray(value) ? JSON.stringify(value) : String(value),
  );
  return `${key} ${old} -> ${next}`;
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 3)}...`;
}
