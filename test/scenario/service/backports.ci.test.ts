import { toPullStoryView } from '#core/contracts/pulls/pull-story.ts';
import { BACKPORT_TRIES_MS, BACKPORT_WINDOW_MS } from '#core/domain/pulls/backport.ts';
import { tellPull } from '#core/domain/pulls/pull-story.ts';
import { carryLandings, wishBackports } from '#core/services/pulls/backport.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import type { ProfileName } from '../../../local/forge/profiles.ts';
import { givenEvent } from '../../builders/store-rows.ts';
import { openSetUpWorld, type SetUpWorld } from '../../support/set-up-world.ts';

jest.setTimeout(120_000);

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
const FILE = 'lines.txt';
const HEAD = 'mq-backport/1-v15';
const READS_PER_BLOW = 3;

const open: SetUpWorld[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});

interface Options {
  readonly labels?: readonly string[];
  /** What the branch v15 has of the file. @default the same as main before the landing */
  readonly onBranch?: string;
  readonly title?: string;
  readonly profile?: ProfileName;
}

const textOf = (lines: readonly string[]) => `${lines.join('\n')}\n`;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Pull request 1 changes a line of main and has landed; v15 was branched off before. */
async function givenLanding({
  labels = ['backport v15'],
  onBranch,
  title = 'Mend the fifth',
  profile = 'fj15',
}: Options = {}) {
  const world = await openSetUpWorld({ profile, files: { [FILE]: textOf(LINES) } });
  open.push(world);
  await world.change({ backports: true });
  const write = async (branch: string, newBranch: string | undefined, content: string) => {
    const file = await world.api('GET', `/contents/${FILE}?ref=${branch}`);
    await world.api('PUT', `/contents/${FILE}`, {
      branch,
      message: 'Change lines',
      content: base64(content),
      sha: file.sha,
      ...(newBranch === undefined ? {} : { new_branch: newBranch }),
    });
  };
  await world.api('POST', '/branches', { new_branch_name: 'v15', old_ref_name: 'main' });
  if (onBranch !== undefined) await write('v15', undefined, onBranch);
  await write('main', 'fix', textOf(LINES.map((line) => (line === 'five' ? 'FIVE' : line))));
  const pull = await world.api('POST', '/pulls', { base: 'main', head: 'fix', title });
  await settle(world);
  for (const name of new Set(['backport v15', ...labels])) await world.api('POST', '/labels', { name });
  if (labels.length > 0) await world.api('POST', `/issues/${pull.number}/labels`, { labels });
  await world.api('POST', `/pulls/${pull.number}/merge`, { Do: 'squash' });
  await settle(world);
  await landed(world, Number(pull.number));
  return world;
}

async function settle(world: SetUpWorld): Promise<void> {
  await world.clock.advance(2_000);
  await world.fake.settle();
}

/** Another one lands, whose last file is written in a commit of its own. Null: it is not merged. */
async function land(
  world: SetUpWorld,
  files: Readonly<Record<string, string | Buffer>>,
  style: string | null = 'merge',
  from = 'main',
  told: Parameters<typeof landed>[2] = {},
): Promise<number> {
  const head = `other-${Object.keys(files)[0]}`;
  await world.api('POST', '/branches', { new_branch_name: head, old_ref_name: from });
  for (const [path, content] of Object.entries(files)) {
    const write = {
      branch: head,
      message: `Write ${path}`,
      content: Buffer.from(content).toString('base64'),
    };
    await world.api('POST', `/contents/${path}`, write);
  }
  const { number } = await world.api('POST', '/pulls', { base: 'main', head, title: 'Another' });
  await settle(world);
  await world.api('POST', `/issues/${number}/labels`, { labels: ['backport v15'] });
  if (style !== null) await world.api('POST', `/pulls/${number}/merge`, { Do: style });
  await settle(world);
  await landed(world, Number(number), told);
  return Number(number);
}

/** The queue's own account of a landing, as the engine stores it. */
async function landed(
  world: SetUpWorld,
  pr: number,
  told: Partial<Parameters<typeof givenEvent>[0]> = {},
): Promise<void> {
  const { store, clock, deps } = world;
  const repo = await world.repo();
  const { head } = await world.api('GET', `/pulls/${pr}`);
  const version = (await store.loadQueueRecord(repo.id))?.version ?? null;
  await withLease({ leases: store, clock, ids: deps.ids }, repo.id, 'test', 60_000, (held) =>
    store.saveQueue(held, repo, {
      document: {},
      expectedVersion: version,
      batches: [],
      events: [
        givenEvent({
          tenantId: repo.tenantId,
          repoId: repo.id,
          at: clock.now(),
          pr,
          head: String((head as { sha: string }).sha),
          ...told,
        }),
      ],
    }),
  );
}

const carry = async (world: SetUpWorld) => carryLandings(world.deps, (await world.repo()).id);
const backportsOf = async (world: SetUpWorld) =>
  (await world.api('GET', '/pulls?state=all')).filter(({ head }) => (head as { ref: string }).ref === HEAD);
const remarksOf = async (world: SetUpWorld, pr = 1) =>
  (await world.api('GET', `/pulls/${pr}/reviews`)).map(({ body }) => String(body));
const fileOn = async (world: SetUpWorld, branch: string, path = FILE) =>
  Buffer.from(
    String((await world.api('GET', `/contents/${path}?ref=${branch}`)).content),
    'base64',
  ).toString();
const storyOf = async ({ store, clock, ...world }: SetUpWorld, pr = 1) => {
  const repo = await world.repo();
  const events = await store.listOwnEvents(repo, 50);
  const facts = { queueEnabled: true, now: clock.now(), view: undefined, pause: null };
  const story = tellPull({ pr, events, batches: [], ...facts });
  if (story === null) throw new Error('nothing is known of the landing');
  return toPullStoryView(repo, pr, story).backports;
};

test('a landing with a label gets a pull request of its own, with its change alone, and nothing is scheduled', async () => {
  const onBranch = textOf([...LINES.slice(0, 7), 'EIGHT']);
  const world = await givenLanding({ onBranch });
  world.takeWrites();
  expect(await carry(world)).toEqual([
    { pr: 1, landedAt: expect.any(Number), backports: [{ branch: 'v15', result: 'opened', pull: 2 }] },
  ]);
  expect(world.takeWrites()).toEqual(['POST diffpatch', 'POST pulls']);
  const [made, ...others] = await backportsOf(world);
  expect(others).toEqual([]);
  expect(made).toMatchObject({
    number: 2,
    title: '[v15] Mend the fifth',
    state: 'open',
    base: { ref: 'v15' },
  });
  expect(made?.body).toContain('The queue does not schedule it');
  expect(await fileOn(world, HEAD)).toBe(textOf([...LINES.slice(0, 4), 'FIVE', 'six', 'seven', 'EIGHT']));
  expect(await fileOn(world, 'v15')).toBe(onBranch);
  expect(await storyOf(world)).toEqual([
    {
      branch: 'v15',
      result: 'opened',
      number: 2,
      says: expect.any(String),
      next: expect.stringContaining('press'),
    },
  ]);
});

test.each<ProfileName>(['fj15', 'gt126'])(
  'contents come to the branch byte for byte, whatever a tool would call wrong in them (%s)',
  async (profile) => {
    const world = await givenLanding({ profile });
    const files = {
      'notes.md': 'a hard break  \nnext line\n',
      'trailing.txt': 'spaces   \n\n\n',
      'indent.txt': ' \ta space before a tab\n',
      'ends.txt': 'one\r\ntwo  \r\nno end of line\t',
      'bytes.bin': Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x20, 0x0a]),
    };
    const pr = await land(world, files);
    await carry(world);
    expect(await storyOf(world, pr)).toMatchObject([{ result: 'opened' }]);
    for (const path of Object.keys(files))
      expect([path, await fileOn(world, `mq-backport/${pr}-v15`, path)]).toEqual([
        path,
        await fileOn(world, 'main', path),
      ]);
  },
);

test.each<[string, ProfileName]>([
  ['merge', 'fj15'],
  ['squash', 'fj15'],
  ['rebase', 'fj15'],
  ['rebase-merge', 'fj15'],
  ['fast-forward-only', 'fj15'],
  ['merge', 'gt126'],
  ['rebase', 'gt126'],
])(
  'all commits of what landed by %s are carried, and nothing else of the base (%s)',
  async (style, profile) => {
    const world = await givenLanding({ labels: [], profile });
    const pr = await land(world, { 'first.txt': '1\n', 'second.txt': '2\n' }, style);
    await carry(world);
    expect(await storyOf(world, pr)).toMatchObject([{ result: 'opened' }]);
    const head = `mq-backport/${pr}-v15`;
    expect(await fileOn(world, head, 'first.txt')).toBe('1\n');
    expect(await fileOn(world, head, 'second.txt')).toBe('2\n');
    expect(await fileOn(world, head)).toBe(textOf(LINES));
  },
);

test('of pull requests that stand on each other each is carried with its own change, where they land by squash', async () => {
  const world = await givenLanding({ labels: [] });
  const lower = await land(world, { 'lower.txt': 'lower\n' }, null);
  const upper = await land(world, { 'upper.txt': 'upper\n' }, null, 'other-lower.txt');
  for (const pr of [lower, upper]) {
    await world.api('POST', `/pulls/${pr}/merge`, { Do: 'squash' });
    await settle(world);
  }
  await carry(world);
  for (const [pr, own, other] of [
    [lower, 'lower.txt', 'upper.txt'],
    [upper, 'upper.txt', 'lower.txt'],
  ] as const) {
    expect(await storyOf(world, pr)).toMatchObject([{ result: 'opened' }]);
    expect(await fileOn(world, `mq-backport/${pr}-v15`, own)).toContain('er');
    await expect(fileOn(world, `mq-backport/${pr}-v15`, other)).rejects.toThrow('404');
  }
});

test('all commits are carried where the forge writes the last one that it replays with words of its own', async () => {
  const world = await givenLanding({ labels: [] });
  const pr = await land(world, { 'first.txt': '1\n', 'second.txt': '2\n' }, 'rebase');
  const merged = (await world.api('GET', `/pulls/${pr}`)).merge_commit_sha;
  const openBackports: typeof world.deps.openBackports = async (repo) => {
    const opened = await world.deps.openBackports(repo);
    if (opened.kind !== 'open') return opened;
    const { forge } = opened;
    const readCommit: typeof forge.readCommit = async (sha) => {
      const commit = await forge.readCommit(sha);
      return sha === merged ? { ...commit, message: 'Words of a template' } : commit;
    };
    return { ...opened, forge: { ...forge, readCommit } };
  };
  await carryLandings({ ...world.deps, openBackports }, (await world.repo()).id);
  expect(await storyOf(world, pr)).toMatchObject([{ result: 'opened' }]);
  expect(await fileOn(world, `mq-backport/${pr}-v15`, 'first.txt')).toBe('1\n');
});

test('a change above what one answer of the forge may have is carried', async () => {
  const world = await givenLanding({ labels: [] });
  const part = 'a line of a large change\n'.repeat(120_000);
  const pr = await land(world, { 'a.txt': part, 'b.txt': part, 'c.txt': part, 'd.txt': part });
  await carry(world);
  expect(await storyOf(world, pr)).toMatchObject([{ result: 'opened' }]);
});

test('a landing that the forge calls merged only later waits for that, and is carried then', async () => {
  const world = await givenLanding({ labels: [] });
  const pr = await land(world, { 'late.txt': 'late\n' }, null);
  await carry(world);
  await carry(world);
  expect((await world.repo()).backported?.map((each) => each.pr)).toEqual([1]);
  await world.api('POST', `/pulls/${pr}/merge`, { Do: 'merge' });
  await settle(world);
  await carry(world);
  expect(await storyOf(world, pr)).toMatchObject([{ result: 'opened' }]);
});

test('landings that the forge fails on hold up no other, and are told when they are given up', async () => {
  const world = await givenLanding({ labels: ['backport v15', 'backport v99'] });
  const other = await land(world, { 'other.txt': 'other\n' });
  const stuck = await land(world, { 'stuck.txt': 'stuck\n' }, null);
  world.fake.knobs.fault = ({ path, about }) =>
    path.endsWith('/diffpatch') && about?.includes(FILE) ? { status: 500 } : null;
  await carry(world);
  const dealtWith = async () => (await world.repo()).backported?.map(({ pr }) => pr);
  expect(await dealtWith()).toEqual([other]);
  expect(await remarksOf(world)).toEqual([expect.stringContaining('"v99"')]);
  await world.clock.advance(BACKPORT_TRIES_MS);
  await carry(world);
  await carry(world);
  expect(await dealtWith()).toEqual([other, 1, stuck]);
  expect(await storyOf(world)).toMatchObject([{ result: 'failed' }, { result: 'no_branch' }]);
  const words = expect.stringMatching(
    /forge failed or took too long at each try.*Next: make a branch from "v15" by hand/,
  );
  expect(await remarksOf(world)).toEqual([expect.stringContaining('"v99"'), words]);
  expect(await remarksOf(world, stuck)).toEqual([words]);
});

test('a landing that each function dies of holds up no other, older or newer, and is told after its last try', async () => {
  const world = await givenLanding();
  const deadly = await land(world, { 'deadly.txt': 'deadly\n' });
  const sha = (await world.api('GET', `/pulls/${deadly}`)).merge_commit_sha;
  const tries: string[] = [];
  const { openPlanner } = world.deps;
  const openMortal: typeof openPlanner = (...given) => {
    const { plan } = openPlanner(...given);
    return {
      plan: async (on, before, after) => {
        if (after === sha) tries.push(after);
        if (after === sha || tries.length === 0) throw new Error('the function had no more time');
        return plan(on, before, after);
      },
    };
  };
  const look = async () => {
    await world.clock.advance(5 * 60_000);
    await carryLandings({ ...world.deps, openPlanner: openMortal }, (await world.repo()).id).catch(
      () => undefined,
    );
  };
  const dealtWith = async () => (await world.repo()).backported?.map(({ pr }) => pr) ?? [];
  // Both were tried once, and both are older than those that come now.
  await look();
  await look();
  const newer = await land(world, { 'newer.txt': 'newer\n' });
  for (let looks = 0; looks < 4; looks += 1) await look();
  expect((await dealtWith()).toSorted()).toEqual([1, newer]);
  await world.clock.advance(BACKPORT_TRIES_MS);
  await look();
  const tried = tries.length;
  await look();
  await look();
  expect(tries).toHaveLength(tried);
  expect(await dealtWith()).toContain(deadly);
  expect(await storyOf(world, deadly)).toMatchObject([{ result: 'failed' }]);
  expect(await remarksOf(world, deadly)).toEqual([expect.stringContaining('took too long at each try')]);
});

test('a forge that answers nothing is asked about one landing, and none is given up for it', async () => {
  const world = await givenLanding();
  await land(world, { 'other.txt': 'other\n' });
  await world.clock.advance(BACKPORT_TRIES_MS);
  const asked: string[] = [];
  world.fake.knobs.fault = ({ path }) => {
    asked.push(path);
    return { status: 502 };
  };
  expect(await carry(world)).toEqual([]);
  expect(asked).toEqual(['/api/v1/repos/acme/app/pulls/1', '/api/v1/repos/acme/app/branches/main']);
});

test('events that repeat and functions at the same time make one backport', async () => {
  const world = await givenLanding();
  await Promise.all([carry(world), carry(world), carry(world)]);
  await landed(world, 1);
  await carry(world);
  expect(await backportsOf(world)).toHaveLength(1);
  expect(await storyOf(world)).toHaveLength(1);
});

test('one that a person closed is not opened again, although its landing was not noted', async () => {
  const world = await givenLanding();
  await carry(world);
  await world.api('PATCH', '/pulls/2', { state: 'closed' });
  await world.change({ backported: [] });
  await carry(world);
  expect(await backportsOf(world)).toHaveLength(1);
});

/** Blows of one play: each write before and after its effect, and of the reads, which have none, one in three. */
function blowsOf(
  methods: readonly string[],
): readonly { readonly nth: number; readonly when: 'before' | 'after' }[] {
  return methods.flatMap((method, at) => {
    const nth = at + 1;
    if (method === 'GET') return at % READS_PER_BLOW === 0 ? [{ nth, when: 'before' as const }] : [];
    return [
      { nth, when: 'before' as const },
      { nth, when: 'after' as const },
    ];
  });
}

test.each([
  ['opened', {}],
  ['conflict', { onBranch: textOf(LINES.map((line) => (line === 'five' ? '5' : line))) }],
] as const)(
  'each call of a function may be its last, before its effect or after it: one telling, that it is %s',
  async (expected, options) => {
    const play = async (isLast: (method: string, nth: number) => 'before' | 'after' | null) => {
      const world = await givenLanding(options);
      const methods: string[] = [];
      world.fake.knobs.fault = ({ method, path }) => {
        if (!path.startsWith('/api/v1/repos/acme/app')) return null;
        methods.push(method);
        const when = isLast(method, methods.length);
        return when === null ? null : { status: 0, when };
      };
      await carry(world);
      world.fake.knobs.fault = () => null;
      await carry(world);
      await carry(world);
      const [story] = await storyOf(world);
      const opened = (await backportsOf(world)).length;
      const told = (await remarksOf(world)).length;
      await world.close();
      open.splice(open.indexOf(world), 1);
      return { methods, result: story?.result, opened, told };
    };
    const { methods } = await play(() => null);
    expect(methods.filter((method) => method !== 'GET')).not.toEqual([]);
    for (const { nth, when } of blowsOf(methods)) {
      // A read is asked again at once where its connection broke.
      const { result, opened, told } = await play((method, at) =>
        at === nth || (method === 'GET' && at === nth + 1) ? when : null,
      );
      const isOpened = expected === 'opened';
      expect({ nth, when, result, opened }).toEqual({
        nth,
        when,
        result: expected,
        opened: isOpened ? 1 : 0,
      });
      expect(told).toBeLessThanOrEqual(1);
    }
  },
);

test.each<[string, Options, string, RegExp]>([
  [
    'a change that does not apply to the branch',
    { onBranch: textOf(LINES.map((line) => (line === 'five' ? '5' : line))) },
    'conflict',
    /does not apply to "v15".*Next: make a branch from "v15" by hand/,
  ],
  ['a branch that does not exist', { labels: ['backport v99'] }, 'no_branch', /no branch "v99"/],
  ['a name that no branch can have', { labels: ['backport ../../x'] }, 'no_branch', /no branch/],
  ['the branch that it landed in', { labels: ['backport main'] }, 'same_branch', /landed in "main"/],
  [
    'a branch that has the change',
    { onBranch: textOf(LINES.map((line) => (line === 'five' ? 'FIVE' : line))) },
    'nothing_left',
    /"v15" has the change already/,
  ],
])('%s is told once, on the pull request and in its story', async (_name, options, result, words) => {
  const world = await givenLanding(options);
  await carry(world);
  await world.change({ backported: [] });
  await carry(world);
  expect(await storyOf(world)).toMatchObject([{ result, number: null }]);
  const remarks = await remarksOf(world);
  expect(remarks).toEqual([expect.stringMatching(words)]);
  expect(await backportsOf(world)).toEqual([]);
  await expect(world.api('GET', `/branches/${HEAD}`)).rejects.toThrow('404');
});

test.each(['fj15', 'gt126'] as const)(
  'a branch of any name that git allows is carried to, on %s',
  async (profile) => {
    const names = ['release/ü', 'v1.0@lts', 'v1#2', '15%', 'a&b=c', '版本'];
    const world = await givenLanding({ labels: names.map((name) => `backport ${name}`), profile });
    for (const name of names)
      await world.api('POST', '/branches', { new_branch_name: name, old_ref_name: 'v15' });
    await carry(world);
    expect((await storyOf(world)).map(({ branch, result }) => [branch, result])).toEqual(
      names.map((name) => [name, 'opened']),
    );
    const pulls = await world.api('GET', '/pulls?state=open');
    expect(pulls).toMatchObject(
      names
        .map((name) => ({
          base: { ref: name },
          head: { ref: `mq-backport/1-${name}` },
          title: `[${name}] Mend the fifth`,
        }))
        .reverse(),
    );
    expect(await remarksOf(world)).toEqual([]);
  },
);

test('branches with long names that begin alike get one each, under names that the forge takes', async () => {
  const names = ['a', 'b'].map((end) => `${'release/'.repeat(12)}${end}`.slice(-95));
  const world = await givenLanding({ labels: names.map((name) => `backport ${name}`) });
  for (const name of names)
    await world.api('POST', '/branches', { new_branch_name: name, old_ref_name: 'v15' });
  await carry(world);
  expect((await storyOf(world)).map(({ result }) => result)).toEqual(['opened', 'opened']);
  const pulls = (await world.api('GET', '/pulls?state=open')) as unknown as { head: { ref: string } }[];
  const heads = pulls.map(({ head }) => head.ref);
  expect(new Set(heads).size).toBe(2);
  for (const head of heads) expect(head).toHaveLength(100);
});

test('a branch whose name is too long for the forge is told at once', async () => {
  const name = 'v'.repeat(101);
  const world = await givenLanding({ labels: [`backport ${name}`] });
  const control = world.fake.controlFor('acme/app');
  // No call makes such a branch, and git does.
  await control.pushBranch(name, await control.tip('v15'));
  await carry(world);
  expect(await storyOf(world)).toMatchObject([{ result: 'not_exact' }]);
});

test('a branch of a person under the name of a backport is left as it is', async () => {
  const world = await givenLanding();
  await world.api('POST', '/branches', { new_branch_name: HEAD, old_ref_name: 'main' });
  await carry(world);
  expect(await storyOf(world)).toMatchObject([{ result: 'name_taken' }]);
  expect(await backportsOf(world)).toEqual([]);
});

test('several labels make one each, and other labels none', async () => {
  const world = await givenLanding({ labels: ['backport v15', 'bug', 'Backport v15', 'backport v99'] });
  await carry(world);
  expect((await storyOf(world)).map(({ branch, result }) => [branch, result])).toEqual([
    ['v15', 'opened'],
    ['v99', 'no_branch'],
  ]);
});

test('without the setting nothing is asked and nothing is made', async () => {
  const world = await givenLanding();
  await world.change({ backports: false });
  const asked: string[] = [];
  const backports = { ask: async (id: string) => void asked.push(id) };
  world.takeWrites();
  await wishBackports({ ...world.deps, backports }, await world.repo());
  await carry(world);
  expect([asked, world.takeWrites()]).toEqual([[], []]);
  await world.change({ backports: true });
  await wishBackports({ ...world.deps, backports }, await world.repo());
  expect(asked).toHaveLength(1);
});

test('one that was merged past the queue is carried nowhere', async () => {
  const world = await givenLanding({ labels: [] });
  await carry(world);
  const told = { event: 'pr_skipped', reason: 'merged_outside_the_queue' } as const;
  const pr = await land(world, { 'other.txt': 'other\n' }, 'merge', 'main', told);
  world.takeWrites();
  expect([await carry(world), world.takeWrites()]).toEqual([[], []]);
  expect(await remarksOf(world, pr)).toEqual([]);
});

test('a landing is asked for until it was carried, and for six hours at most', async () => {
  const world = await givenLanding({ labels: [] });
  const asked: string[] = [];
  const backports = { ask: async (id: string) => void asked.push(id) };
  const wish = async () => wishBackports({ ...world.deps, backports }, await world.repo());
  await wish();
  await carry(world);
  await wish();
  expect(asked).toHaveLength(1);
  await land(world, { 'seven.txt': '7\n' }, null);
  await world.clock.advance(BACKPORT_WINDOW_MS);
  await wish();
  expect(asked).toHaveLength(1);
});

test.each(['updateRepo', 'claimDelivery'])(
  'a store that fails at %s once costs a second try alone',
  async (method) => {
    const world = await givenLanding({ labels: ['backport v15', 'backport v99'] });
    world.failStore(method, 1);
    await carry(world).catch(() => undefined);
    expect(await carry(world)).toHaveLength(1);
    expect(await backportsOf(world)).toHaveLength(1);
    expect(await remarksOf(world)).toHaveLength(1);
  },
);

test('a branch that the forge made although it answered with a fault is gone on with by the next look', async () => {
  const world = await givenLanding();
  world.fake.knobs.fault = ({ path }) =>
    path.endsWith('/diffpatch') ? { status: 500, when: 'after' } : null;
  await carry(world);
  await carry(world);
  expect(await storyOf(world)).toMatchObject([{ result: 'opened', number: 2 }]);
  expect(await backportsOf(world)).toHaveLength(1);
});

test('a branch that no pull request could be opened for is gone on with, although the title was edited since', async () => {
  const world = await givenLanding();
  world.fake.knobs.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith('/pulls') ? { status: 500 } : null;
  await carry(world);
  world.fake.knobs.fault = () => null;
  await world.api('PATCH', '/pulls/1', { title: 'Mend the fifth line' });
  await carry(world);
  expect(await storyOf(world)).toMatchObject([{ result: 'opened', number: 2 }]);
  expect(await backportsOf(world)).toMatchObject([{ title: '[v15] Mend the fifth line' }]);
});

test('a queue that is switched off carries nothing', async () => {
  const world = await givenLanding();
  await world.change({ queueEnabled: false });
  expect(await carry(world)).toEqual([]);
});
