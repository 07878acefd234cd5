import { endingOf, expectHonestEnd, givenProject, givenScheduled, statusOf } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;

/** Thirty lines, some of them replaced. */
const lines = (changes: Readonly<Record<number, string>> = {}, name = 'line'): string =>
  Array.from({ length: 30 }, (_, at) => `${changes[at] ?? `${name} ${at}`}\n`).join('');

/** A file whose two-sided merge comes out otherwise by git's default diff, which `git apply -3` uses. */
const GO = {
  base: [
    'package main',
    '',
    'import (',
    '\t"app/order"',
    '\t"app/line"',
    '\t"app/batch"',
    ')',
    '',
    'func split(line string) error {',
    '',
    '\torder := render()',
    '\ttree := render()',
    '\treturn nil',
    '}',
    '',
  ],
  ours: [
    '  package main',
    '  ',
    '  import (',
    '  \t"app/order"',
    '  \t"app/line"',
    '\t"app/batch"',
    ')',
    '',
    'func split(line string) error {',
    '',
    '\torder := render()',
    '\ttree := render()',
    '\treturn nil',
    '}',
    'func apply(tree string) error {',
    '\treturn nil',
    '}',
    '',
    '',
  ],
  theirs: [
    'package main',
    '',
    'import (',
    '\t"app/order"',
    '\t"app/line"',
    '\t"app/batch"',
    '), nil',
    '',
    'func split(line string) error {',
    '',
    '\torder := render()',
    '\ttree := render()',
    '\treturn nil',
    '), nil',
    '',
    'func split(line string) error {',
    '',
    '\torder := render()',
    '\ttree := render()',
    '\treturn nil',
    '}',
    '',
    'func apply(batch string) error {',
    '\tline := apply()',
    '',
    '\treturn nil',
    '}',
    '',
  ],
};
const toFile = (text: readonly string[]): string => `${text.join('\n')}\n`;

/** Both sides have changed something: what lands is what git merges, and what git stops at is told before a run. */
export function defineMergeTests(
  create: (options?: WorldOptions) => Promise<World>,
  /** The forge merges in a bare repository, where git reads no .gitattributes. */
  readsNoRules: boolean,
): void {
  type Files = Readonly<Record<string, string | null>>;

  /** One pull request on a base that has moved on since it was opened. */
  async function givenTwoSided(world: World, base: Files, ours: Files, theirs: Files): Promise<number> {
    await world.forge.pushToBase(base);
    const pr = await world.forge.openPullRequest({ branch: 'theirs', files: theirs });
    await world.forge.schedule(pr, 'squash');
    await world.forge.pushToBase(ours);
    await world.clock.advance(MINUTE_MS);
    return pr;
  }

  async function expectLanded(world: World, pr: number, path: string, content: string): Promise<void> {
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    expect((await world.record()).halted).toBeNull();
    const files = await world.forge.readFiles(await world.forge.tip('main'));
    expect(files.get(path)).toBe(content);
    await expectHonestEnd(world, [pr]);
  }

  test('contents that a patch would merge otherwise land as git merges them', async () => {
    const world = await create();
    await givenProject(world.forge);
    const [base, ours, theirs] = [GO.base, GO.ours, GO.theirs].map((text) => ({ 'main.go': toFile(text) }));
    const pr = await givenTwoSided(world, base ?? {}, ours ?? {}, theirs ?? {});
    const merged = toFile(GO.ours).replace('"app/batch"\n)', '"app/batch"\n), nil');
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    expect((await world.record()).halted).toBeNull();
    const landed = (await world.forge.readFiles(await world.forge.tip('main'))).get('main.go') ?? '';
    expect(landed.startsWith(merged.slice(0, 90))).toBe(true);
    expect(landed.indexOf('func apply(tree')).toBeLessThan(landed.indexOf('func apply(batch'));
    await expectHonestEnd(world, [pr]);
  });

  test('a file that the base renamed lands with the edit of the pull request', async () => {
    const world = await create();
    await givenProject(world.forge);
    const pr = await givenTwoSided(
      world,
      { 'old.txt': lines() },
      { 'old.txt': null, 'new.txt': lines({ 25: 'base' }) },
      { 'old.txt': lines({ 2: 'pull' }) },
    );
    await expectLanded(world, pr, 'new.txt', lines({ 2: 'pull', 25: 'base' }));
  });

  test('a directory that the pull request renamed lands with the edits of the base', async () => {
    const world = await create();
    await givenProject(world.forge);
    const pr = await givenTwoSided(
      world,
      { 'a/x.txt': lines(), 'a/y.txt': lines({}, 'y') },
      { 'a/x.txt': lines({ 2: 'base' }) },
      { 'a/x.txt': null, 'a/y.txt': null, 'b/x.txt': lines({ 25: 'pull' }), 'b/y.txt': lines({}, 'y') },
    );
    await expectLanded(world, pr, 'b/x.txt', lines({ 2: 'base', 25: 'pull' }));
  });

  test.each<[name: string, base: Files, ours: Files, theirs: Files, words: RegExp]>([
    [
      'a file that the base deleted and the pull request renamed',
      { 'f.txt': lines() },
      { 'f.txt': null },
      { 'f.txt': null, 'g.txt': lines() },
      /^error: refused: conflicts with the base/,
    ],
    [
      'a file that both renamed, to two names',
      { 'f.txt': lines() },
      { 'f.txt': null, 'g.txt': lines() },
      { 'f.txt': null, 'h.txt': lines() },
      /^error: refused: conflicts with the base/,
    ],
    [
      'a new file in a directory that the base renamed',
      { 'a/x.txt': lines(), 'a/y.txt': lines({}, 'y') },
      { 'a/x.txt': null, 'a/y.txt': null, 'b/x.txt': lines(), 'b/y.txt': lines({}, 'y') },
      { 'a/new.txt': 'new\n' },
      /^error: refused: a folder was renamed/,
    ],
    [
      'a file whose merge .gitattributes rules',
      { 'f.txt': lines(), '.gitattributes': '*.txt merge=ours\n' },
      { 'f.txt': lines({ 2: 'base' }) },
      { 'f.txt': lines({ 25: 'pull' }) },
      /^error: refused: .gitattributes rules the merge/,
    ],
  ])('%s is refused before a run, and the others land', async (_, base, ours, theirs, words) => {
    const world = await create();
    await givenProject(world.forge);
    const pr = await givenTwoSided(world, base, ours, theirs);
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect(world.forge.runs()).toEqual([]);
    expect(await statusOf(world, pr)).toMatch(words);
    const other = await givenScheduled(world.forge, 'other');
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect(await endingOf(world, [pr, other])).toEqual({ landed: [other], bounced: [] });
    await expectHonestEnd(world, [pr, other]);
  });

  test('a bare 500 of the forge, however often, is never a conflict', async () => {
    const world = await create();
    await givenProject(world.forge);
    const pr = await givenTwoSided(
      world,
      { 'f.txt': lines() },
      { 'f.txt': lines({ 2: 'base' }) },
      { 'f.txt': lines({ 25: 'pull' }) },
    );
    let faults = 6;
    world.forge.fault = ({ path }) => {
      if (!path.endsWith('/diffpatch') || faults === 0) return null;
      faults -= 1;
      return { status: 500, body: JSON.stringify({ message: '' }), when: 'before' };
    };
    await world.drain({ maxMs: 24 * 60 * MINUTE_MS, until: async () => (await world.forge.pull(pr)).merged });
    const refusals = (await world.events()).filter((event) => event.event === 'pr_refused');
    expect(new Set(refusals.map((event) => event.reason))).toEqual(new Set(['staging_failed']));
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });

  if (readsNoRules) {
    test('a refusal that the forge contradicts is looked at again, said once', async () => {
      const world = await create();
      await givenProject(world.forge);
      const pr = await givenTwoSided(
        world,
        { 'f.txt': lines(), '.gitattributes': '*.txt merge=ours\n' },
        { 'f.txt': lines({ 2: 'base' }) },
        { 'f.txt': lines({ 25: 'pull' }) },
      );
      await world.drain({ maxMs: 20 * MINUTE_MS });
      const first = (await world.record()).deferred.find((deferred) => deferred.pr === pr);
      expect(first?.until).toBeGreaterThan(world.clock.now());
      await world.clock.advance((first?.until ?? 0) - world.clock.now() + 1000);
      await world.reconcile();
      const second = (await world.record()).deferred.find((deferred) => deferred.pr === pr);
      expect(second?.until).toBeGreaterThan(first?.until ?? 0);
      expect((await world.events()).filter((event) => event.event === 'pr_refused')).toHaveLength(1);
      expect(await statusOf(world, pr)).toMatch(/^error: refused: .gitattributes/);
    });
  }

  test('contents that were merged stand in no log, record, row or event (A10)', async () => {
    const world = await create();
    await givenProject(world.forge);
    const canary = 'canary-5f1d3c';
    const pr = await givenTwoSided(
      world,
      { 'f.txt': lines() },
      { 'f.txt': lines({ 2: `base ${canary}` }) },
      { 'f.txt': lines({ 25: `pull ${canary}` }) },
    );
    await expectLanded(world, pr, 'f.txt', lines({ 2: `base ${canary}`, 25: `pull ${canary}` }));
    const kept = [world.log, await world.record(), await world.rows(), await world.events()];
    expect(JSON.stringify(kept)).not.toContain(canary);
  });
}
