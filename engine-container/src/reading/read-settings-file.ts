import {
  readSettingsFile,
  SETTINGS_FILE_BYTES_MAX,
  type SettingsFile,
} from '#core/contracts/repos/settings-file.ts';
import type { TreeEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import { SETTINGS_FILE } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { SettingsSeen } from '#core/domain/repos/settings-file.ts';
import type { Reading } from '#core/domain/result.ts';
import { ForgeError, type ForgeReader } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import { isReplacedTip } from '../queue/landing/landed.ts';
import type { Ground, QueueRecord } from '../queue/record/record.ts';
import type { Snapshot } from '../queue/snapshot.ts';
import { isRegularFile } from '../staging/path-change.ts';
import type { TryRead } from './look-reads.ts';

type FileReader = Pick<ForgeReader, 'readTree' | 'readBlob'>;
type Kept = Pick<QueueRecord, 'settingsSeen'>;

const TOO_LARGE = `The file has more than ${SETTINGS_FILE_BYTES_MAX} bytes.`;
const NO_PLAIN_FILE = 'The entry of this name is no plain file.';

/**
 * Without work the base matters only if it moved past the queue (A39), or if its settings file is to be read. It is watched from the
 * first look on, which the enrollment asks for.
 */
export function isBaseNews(repo: ManagedRepo, record: QueueRecord, tip: Reading<CommitSha | null>): boolean {
  if (!tip.known) return false;
  return tip.value !== record.baseSeen?.sha || isFileDue(repo, record, tip.value);
}

/** The base has moved since the file was read, where the repository asks for it. */
function isFileDue(
  { settingsFile }: Pick<ManagedRepo, 'settingsFile'>,
  { settingsSeen }: Kept,
  tip: CommitSha | null,
): boolean {
  return settingsFile && tip !== null && tip !== settingsSeen?.commit;
}

/** The settings file of this look; nothing where it is not due, or the base is not known, or is known to be late. */
export async function readSettings(
  forge: FileReader,
  tryRead: TryRead,
  repo: ManagedRepo,
  { record, base, begunAt, clock }: Look,
): Promise<Pick<Snapshot, 'settingsSeen'>> {
  if (!base.known || !isFileDue(repo, record, base.value.sha)) return {};
  if (isReplacedTip(record, base.value.sha, { now: begunAt })) return {};
  const file = await tryRead(() => readSettingsAt(forge, record, base.value, clock.now()));
  return file.known ? { settingsSeen: file.value } : {};
}

interface Look {
  readonly record: QueueRecord;
  readonly base: Reading<Ground>;
  readonly begunAt: EpochMs;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * The settings file at this tip of the base. The same tree costs no call, the same contents one, new contents two. Values
 * of a wrong file are never taken: those before it stay in force. Throws `ForgeError`.
 */
async function readSettingsAt(
  forge: FileReader,
  { settingsSeen }: Kept,
  { sha: commit, tree }: Ground,
  now: EpochMs,
): Promise<SettingsSeen> {
  if (settingsSeen?.tree === tree) return { ...settingsSeen, commit };
  const listed = await forge.readTree(tree, 'one');
  // Half an answer, or one about another tree, must not read as "there is no file".
  if (listed.entries === null || listed.tree !== tree)
    throw new ForgeError('unreachable', 'GET git/trees/{sha}', null);
  const entry = listed.entries.find(({ path }) => path === SETTINGS_FILE);
  const blob = entry?.id ?? null;
  if (settingsSeen?.blob === blob && isSameKind(settingsSeen, entry))
    return { ...settingsSeen, commit, tree };
  const at = { commit, tree, since: now, blob };
  if (entry === undefined) return { ...at, values: {}, from: null };
  const file = await readEntry(forge, entry);
  if (file.ok) return { ...at, values: file.settings, from: commit };
  const { values = {}, from = null } = settingsSeen ?? {};
  return { ...at, values, from, problems: file.problems };
}

/** A link may have the contents that a file had. */
function isSameKind({ problems = [] }: SettingsSeen, entry: TreeEntry | undefined): boolean {
  const wasPlain = problems.every(({ says }) => says !== NO_PLAIN_FILE);
  return entry === undefined || (isRegularFile(entry) && wasPlain);
}

/** The settings that an entry of the settings file's name holds. */
export async function readEntry(
  forge: Pick<FileReader, 'readBlob'>,
  entry: Pick<TreeEntry, 'id' | 'mode' | 'size'>,
): Promise<SettingsFile> {
  if (!isRegularFile(entry)) return wrong(NO_PLAIN_FILE);
  if ((entry.size ?? 0) > SETTINGS_FILE_BYTES_MAX) return wrong(TOO_LARGE);
  const contents = await forge.readBlob(entry.id, entry.size ?? SETTINGS_FILE_BYTES_MAX);
  return contents === null ? wrong(TOO_LARGE) : readSettingsFile(contents.toString('utf8'));
}

function wrong(says: string): SettingsFile {
  return { ok: false, problems: [{ line: 1, column: 1, key: null, says }] };
}
