import type { ForgeControl } from '../../local/forge/control.ts';
import { PERSON } from '../../local/forge/people.ts';

/** What people of a repository wrote so that it holds the engine up; their forge is right in all that it says of it. */
export interface Writing {
  readonly name: string;
  write(control: ForgeControl): Promise<void>;
  /** What its forge says instead; by default it is right in all that it says. */
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
      const rules = rangeOf(2_000, (at) => `gen/*/dir${at}/**/*.pb.go merge=union\n`).join('');
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
];
