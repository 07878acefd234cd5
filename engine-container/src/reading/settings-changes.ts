import { tellSettingsChange } from '#core/contracts/repos/settings-change.ts';
import type { SettingsFile } from '#core/contracts/repos/settings-file.ts';
import type { PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { SETTINGS_FILE } from '#core/domain/queue/queue-names.ts';
import type { QueueSettings } from '#core/domain/repos/repo-settings.ts';
import type { FileValues, SettingsSeen, SettingsTold } from '#core/domain/repos/settings-file.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import { type DirectoryEntry, findEntry, Unsayable } from '../staging/objects.ts';
import { ReadingUnfinished, type RepoObjects } from '../staging/repo-objects.ts';
import { readEntry } from './read-settings-file.ts';

/** Null: the repository does not ask for its settings file. */
export type ToldSettings = { readonly stored: QueueSettings; readonly seen: SettingsSeen | undefined } | null;

export function toldSettings(
  repo: QueueSettings,
  { settingsSeen }: Pick<QueueRecord, 'settingsSeen'>,
): ToldSettings {
  return repo.settingsFile ? { stored: repo, seen: settingsSeen } : null;
}

interface Deps {
  readonly forge: Pick<EngineForge, 'readBlob'>;
  readonly objects: RepoObjects;
  readonly settings: ToldSettings;
}

interface Step {
  readonly pr: PullRequestNumber;
  readonly before: TreeHash;
  readonly after: TreeHash;
}

/**
 * The words for each staged pull request that changes the settings, each compared with the one before it. The trees are at hand;
 * one call for contents that are not. What cannot be read is told to no author: staging does not wait for words.
 */
export async function tellSettingsChanges(
  { forge, objects, settings }: Deps,
  steps: readonly Step[],
): Promise<readonly SettingsTold[]> {
  if (settings === null) return [];
  const told: SettingsTold[] = [];
  let values: FileValues = settings.seen?.values ?? {};
  try {
    for (const { pr, before, after } of steps) {
      const [old, next] = [await find(objects, before), await find(objects, after)];
      if (old?.id === next?.id && old?.mode === next?.mode) continue;
      const file = await read(forge, objects, next);
      const words = tellSettingsChange(settings.stored, values, file);
      if (words !== null) told.push({ pr, ...words });
      if (file.ok) values = file.settings;
    }
  } catch (error) {
    const isForeseen =
      error instanceof ForgeError || error instanceof ReadingUnfinished || error instanceof Unsayable;
    if (!isForeseen) throw error;
  }
  return told;
}

const find = (objects: RepoObjects, tree: TreeHash): Promise<DirectoryEntry | null> =>
  objects.run(findEntry(objects, tree, SETTINGS_FILE));

async function read(
  forge: Deps['forge'],
  objects: RepoObjects,
  entry: DirectoryEntry | null,
): Promise<SettingsFile> {
  if (entry === null) return { ok: true, settings: {} };
  const made = {
    readBlob: async (id: string, bytesMax: number) =>
      objects.contentOf(id) ?? (await forge.readBlob(id, bytesMax)),
  };
  return readEntry(made, entry);
}
