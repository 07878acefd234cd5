import { SETTINGS_FILE_BYTES_MAX } from '#core/contracts/repos/settings-file.ts';
import type { ForgeControl } from '../../local/forge/control.ts';
import { git } from '../../local/forge/git/process.ts';
import { PERSON } from '../../local/forge/people.ts';

/** What people of a repository wrote so that it holds the engine up. Their forge is right in all that it says of it, unless it lies. */
export interface Writing {
  readonly name: string;
  /** `gitDir`: of the repository, for what no push of files makes. */
  write(control: ForgeControl, gitDir: string): Promise<void>;
  /** An answer as the forge gives it, by its path and body. Where it is there, all repositories of the tenant are this one. */
  readonly lie?: (path: string, body: string) => string;
}

const rangeOf = <Item>(count: number, toItem: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => toItem(at));
const filesOf = (names: readonly string[], toText: (name: string) => string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, toText(name)]));

/** Both sides change these files, each at another end. */
async function changeBoth(
  control: ForgeControl,
  names: readonly string[],
  toText: (name: string, top: string, end: string) => string,
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  await control.pushToBase({ ...filesOf(names, (name) => toText(name, '', '')), ...others });
  const branch = 'theirs';
  const files = filesOf(names, (name) => toText(name, '', 'theirs\n'));
  const pr = await control.openPullRequest({ branch, files });
  await control.pushToBase(filesOf(names, (name) => toText(name, 'ours\n', '')));
  await control.schedule(pr);
}

const SHORT_TEXT = rangeOf(12, (at) => `line ${at}\n`).join('');

export const WRITINGS: readonly Writing[] = [
  {
    name: 'patterns: 64 KB of protected files over 300 files',
    write: async (control) => {
      await control.setProtection({ protectedFilePatterns: rangeOf(9_000, (at) => `*x${at};`).join('') });
      const files = filesOf(
        rangeOf(300, (at) => `src/f${at}.ts`),
        (name) => name,
      );
      await control.schedule(await control.openPullRequest({ branch: 'many', files }));
    },
  },
  {
    name: 'patterns: 1,000 required checks over 1,000 statuses',
    write: async (control) => {
      const pr = await control.openPullRequest({ branch: 'checked', files: { 'a.txt': 'a' } });
      const { headSha } = await control.pull(pr);
      for (const at of rangeOf(1_000, (each) => each))
        await control.postStatusAs(PERSON, headSha, `ci/zz${at} mq`, 'success');
      await control.setProtection({ requiredContexts: ['mq', ...rangeOf(1_000, (at) => `*zz${at}*mq*`)] });
      await control.schedule(pr);
    },
  },
  {
    name: 'patterns: 2,000 rules of .gitattributes over 300 files',
    write: async (control) => {
      const rules = rangeOf(2_000, (at) => `gen/*/dir${at}/**/*.pb.go merge=ours\n`).join('');
      await changeBoth(
        control,
        rangeOf(300, (at) => `src/some/package/path/file${at}.ts`),
        (name, top, end) => `${name}\n${top}${SHORT_TEXT}${end}`,
        { '.gitattributes': rules },
      );
    },
  },
  {
    name: 'contents: as many as one merge may read, in four repositories',
    write: async (control) =>
      changeBoth(
        control,
        rangeOf(2, (at) => `f${at}.txt`),
        (name, top, end) => `${top}${`${name} of a line\n`.repeat(3_900_000 / 17)}${end}`,
      ),
    lie: (_, body) => body,
  },
  {
    name: 'contents: 20 files of ten MiB that are listed as of ten bytes',
    write: async (control) =>
      changeBoth(
        control,
        rangeOf(20, (at) => `f${at}.txt`),
        (name, top, end) => `${top}${name.repeat(10_000_000 / name.length)}\n${end}`,
      ),
    lie: (path, body) => (path.includes('/git/trees/') ? body.replace(/"size":\d+/g, '"size":10') : body),
  },
  {
    name: 'patterns: two versions of three million empty lines',
    write: async (control) =>
      changeBoth(control, ['long.txt'], (_, top, end) => `${top}${'\n'.repeat(3_000_000)}${end}`),
  },
  {
    name: 'text: one file of 240,000 lines',
    write: async (control) =>
      changeBoth(
        control,
        ['long.txt'],
        (_, top, end) => `${top}${rangeOf(240_000, (at) => `${at.toString(36)}\n`).join('')}${end}`,
      ),
  },
  {
    name: 'trees: a few objects that stand for 250,000 files',
    write: async (control, gitDir) => {
      const pr = await control.openPullRequest({ branch: 'million', files: { 'a.txt': 'a' } });
      const { headSha } = await control.pull(pr);
      await control.forcePushPullRequest(pr, await commitRepeated(gitDir, headSha, 500));
      await control.schedule(pr);
    },
  },
  {
    name: 'files: a thousand copies of one, moved and changed',
    write: async (control) => {
      const from = rangeOf(1_000, (at) => `from/old-${at}.txt`);
      const to = rangeOf(1_000, (at) => `to/new-${at}.txt`);
      const textOf = (mark: string): string => `${mark}\n${SHORT_TEXT.repeat(20)}`;
      await control.pushToBase(filesOf(from, () => textOf('base')));
      const moved = {
        ...filesOf(to, () => textOf('theirs')),
        ...Object.fromEntries(from.map((name) => [name, null])),
      };
      const pr = await control.openPullRequest({ branch: 'moved', files: moved });
      await control.pushToBase(filesOf(from, () => textOf('ours')));
      await control.schedule(pr);
    },
  },
  {
    name: 'settings: a key that is a mapping, whose key is one',
    write: async (control) => {
      const text = `high_labels:\n ${'? '.repeat(SETTINGS_FILE_BYTES_MAX / 2 - 20)}a\n`;
      await control.pushToBase({ '.mergeyard.yml': text });
      const pr = await control.openPullRequest({
        branch: 'settings',
        files: { '.mergeyard.yml': text.replace('? a', '? b') },
      });
      await control.schedule(pr);
    },
  },
];

/** A commit with a folder whose `count` names are one folder, in which as many names are one file. */
async function commitRepeated(gitDir: string, parent: string, count: number): Promise<string> {
  const file = await git(gitDir, ['hash-object', '-w', '--stdin'], { input: 'x\n' });
  const put = (mode: string, kind: string, id: string) =>
    git(gitDir, ['mktree'], { input: rangeOf(count, (at) => `${mode} ${kind} ${id}\tn${at}\n`).join('') });
  const folders = await put('040000', 'tree', await put('100644', 'blob', file));
  const root = await git(gitDir, ['ls-tree', parent]);
  const tree = await git(gitDir, ['mktree'], { input: `${root}\n040000 tree ${folders}\trepeated\n` });
  const who = ['-c', `user.name=${PERSON}`, '-c', `user.email=${PERSON}@example.org`];
  return git(gitDir, [...who, 'commit-tree', tree, '-p', parent, '-m', 'Add one folder under many names']);
}
