import {
  compareSettings,
  type FileProblem,
  type FileSettings,
  readSettingsFile,
  SETTINGS_FILE,
  type SettingChange,
  settingsFileSchema,
} from '#core/contracts/repos/settings-file.ts';
import { sayFileState } from '../dashboard/view/settings-file.ts';
import { type Asked, EXIT, emit, type Printing, type Repo } from './asked.ts';
import type { OnRepo } from './call.ts';
import { Misuse } from './context.ts';
import { readFile } from './evidence.ts';
import { plain } from './values.ts';

export const SETTINGS_ACTIONS = ['check', 'compare', 'apply', 'show', 'schema'] as const;

type SettingsAction = (typeof SETTINGS_ACTIONS)[number];

export function readAction(text: string): SettingsAction {
  const action = SETTINGS_ACTIONS.find((known) => known === text);
  if (action === undefined) throw new Misuse(`settings takes one of: ${SETTINGS_ACTIONS.join(', ')}.`);
  return action;
}

/**
 * One action on a settings file, by its path. Where the file is wrong, or is only checked, nothing is asked of the service
 * and no login is needed.
 * @param find gives the repository that the file is compared with
 */
export async function settings(
  printed: Printing,
  action: SettingsAction,
  path: string | undefined,
  find: () => Promise<OnRepo>,
): Promise<number> {
  if (action === 'schema') {
    emit(printed, settingsFileSchema(), () => JSON.stringify(settingsFileSchema(), null, 2).split('\n'));
    return EXIT.ok;
  }
  if (action === 'show') {
    if (path !== undefined)
      throw new Misuse('settings show tells what holds on the service, and takes no file.');
    const { asked, repo } = await find();
    return show(asked, repo);
  }
  const name = path ?? SETTINGS_FILE;
  const file = readSettingsFile(readFile(name));
  if (!file.ok) {
    emit(printed, { file: name, ...file }, () => file.problems.map((problem) => sayProblem(name, problem)));
    return EXIT.fault;
  }
  if (action === 'check') {
    const count = Object.keys(file.settings).length;
    emit(printed, { file: name, ...file }, () => [`${plain(name)} is right: ${sayCount(count)}`]);
    return EXIT.ok;
  }
  const { asked, repo } = await find();
  return action === 'compare' ? compare(asked, repo, file.settings) : apply(asked, repo, file.settings);
}

/** Prints each setting with the value that holds and its origin, the file or the page. */
async function show(asked: Asked, repo: Repo): Promise<number> {
  const { name, base_branch, file_settings } = repo;
  const { problems, values } = file_settings;
  emit(asked, { repo: name, base_branch, ...file_settings }, () => [
    `${name} ${base_branch}: ${sayFileState(file_settings, 'the settings page')}`,
    ...problems.map((problem) => sayProblem(SETTINGS_FILE, problem)),
    ...Object.entries(values).map(([key, { value, origin }]) => `${key}: ${sayValue(value)} (${origin})`),
  ]);
  return problems.length > 0 ? EXIT.fault : EXIT.ok;
}

async function compare(asked: Asked, repo: Repo, file: FileSettings): Promise<number> {
  const changes = compareSettings(held(repo), file);
  emit(asked, { repo: repo.name, base_branch: repo.base_branch, changes }, () =>
    say(repo, changes, 'would change'),
  );
  return EXIT.ok;
}

/** The values that hold, by setting: those of the file on the base where the service reads it, else the stored ones. */
function held(repo: Repo): Readonly<Record<string, unknown>> {
  if (!repo.settings_file) return repo;
  const values = Object.entries(repo.file_settings.values).map(([key, { value }]) => [key, value]);
  return { ...repo, ...Object.fromEntries(values) };
}

/** Sends what differs and nothing else, so that a second run sends nothing. Where the service reads the file, it has to be landed. */
async function apply(asked: Asked, repo: Repo, file: FileSettings): Promise<number> {
  const changes = compareSettings(held(repo), file);
  if (repo.settings_file && changes.length > 0) {
    emit(asked, { repo: repo.name, base_branch: repo.base_branch, read_by_service: true, changes }, () => [
      `${repo.name} ${repo.base_branch}: nothing was sent. The queue reads ${SETTINGS_FILE} on its base branch by itself: land the file there.`,
      ...sayChanges(changes),
    ]);
    return EXIT.fault;
  }
  if (changes.length > 0)
    await asked.api.updateRepo({
      id: repo.id,
      body: Object.fromEntries(changes.map(({ key, to }) => [key, to])),
    });
  emit(asked, { repo: repo.name, base_branch: repo.base_branch, changes }, () =>
    say(repo, changes, 'changed'),
  );
  return EXIT.ok;
}

function say(repo: Repo, changes: readonly SettingChange[], verb: string): readonly string[] {
  const name = `${repo.name} ${repo.base_branch}`;
  if (changes.length === 0) return [`${name}: nothing ${verb}`];
  return [`${name}: ${sayCount(changes.length)} ${verb}`, ...sayChanges(changes)];
}

const sayChanges = (changes: readonly SettingChange[]): readonly string[] =>
  changes.map(({ key, from, to }) => `  ${key}: ${sayValue(from)} -> ${sayValue(to)}`);

const sayProblem = (
  name: string,
  { line, column, says }: Pick<FileProblem, 'line' | 'column' | 'says'>,
): string => `${plain(name)}:${line}:${column}: ${plain(says)}`;

const sayCount = (count: number): string => `${count} setting${count === 1 ? '' : 's'}`;
const sayValue = (value: unknown): string =>
  value === undefined ? 'not known' : plain(JSON.stringify(value));
