import { type Bench, quiet, startBench } from './harness.ts';

let bench: Bench;
afterEach(() => bench.close());

const LINES = Array.from({ length: 40 }, (_, at) => `line ${at}`);
const withLine = (at: number, text: string): string =>
  `${LINES.map((line, index) => (index === at ? text : line)).join('\n')}\n`;
const PLAIN = `${LINES.join('\n')}\n`;

type Entry = { path: string; mode: string; sha: string; type: string };

async function listTree(sha: string): Promise<Map<string, Entry>> {
  const { body } = await bench.api('GET', `/git/trees/${sha}?recursive=true&per_page=1000`);
  return new Map(
    body.tree.filter((entry: Entry) => entry.type !== 'tree').map((entry: Entry) => [entry.path, entry]),
  );
}

/** The content-free patch of section 6.2: paths, modes and blob ids, no byte of content. */
async function contentFreePatch(from: string, to: string): Promise<string> {
  const [old, now] = [await listTree(from), await listTree(to)];
  const sections: string[] = [];
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    const [a, b] = [old.get(path), now.get(path)];
    if (a?.sha === b?.sha && a?.mode === b?.mode) continue;
    const zero = '0'.repeat(40);
    const head = `diff --git a/${path} b/${path}\n`;
    if (a === undefined) {
      sections.push(
        `${head}new file mode ${b?.mode}\nindex ${zero}..${b?.sha}\nBinary files /dev/null and b/${path} differ\n`,
      );
    } else if (b === undefined) {
      sections.push(
        `${head}deleted file mode ${a.mode}\nindex ${a.sha}..${zero}\nBinary files a/${path} and /dev/null differ\n`,
      );
    } else {
      const modes = a.mode === b.mode ? '' : `old mode ${a.mode}\nnew mode ${b.mode}\n`;
      const kept = a.mode === b.mode ? ` ${a.mode}` : '';
      sections.push(
        `${head}${modes}index ${a.sha}..${b.sha}${kept}\nBinary files a/${path} and b/${path} differ\n`,
      );
    }
  }
  return sections.join('');
}

const patchCall = (content: string, more: object) =>
  bench.api('POST', '/diffpatch', { content, sha: 'x', message: 'mq: stage', ...more });

async function openAndCheck(branch: string, files: Record<string, string | null>): Promise<number> {
  const pr = await bench.forge.control.openPullRequest({ branch, files });
  await quiet(bench);
  return pr;
}

test('a content-free patch makes the tree of the pull request, in one commit on the base', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  await control.pushToBase({ 'gone.txt': 'g\n', 'kept.txt': 'trailing blanks   \n' });
  const pr = await openAndCheck('one', { 'new file.txt': 'n  \n', 'gone.txt': null, 'README.md': '# new\n' });
  const { headSha, baseTip } = await control.pull(pr);
  const answer = await patchCall(await contentFreePatch(baseTip, headSha), {
    branch: 'main',
    new_branch: 'mq/main/staging',
  });
  expect(answer.status).toBe(201);
  expect(answer.body.commit.tree.sha).toBe(await control.tree(headSha));
  expect(answer.body.commit.parents).toMatchObject([{ sha: baseTip }]);
  expect(await control.tip('mq/main/staging')).toBe(answer.body.commit.sha);
  await quiet(bench);
  expect(control.runs()).toMatchObject([{ branch: 'mq/main/staging', sha: answer.body.commit.sha }]);
});

test('the server merges content when the file moved on, and two steps chain', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  await control.pushToBase({ 'list.txt': PLAIN });
  const prs = [
    await openAndCheck('one', { 'list.txt': withLine(2, 'one') }),
    await openAndCheck('two', { 'list.txt': withLine(35, 'two') }),
  ];
  const base = await control.tip('main');
  let target: object = { branch: 'main', new_branch: 'work/main/1' };
  let last = base;
  for (const pr of prs) {
    const { headSha } = await control.pull(pr);
    const answer = await patchCall(await contentFreePatch(base, headSha), target);
    expect(answer.status).toBe(201);
    expect(answer.body.commit.parents).toMatchObject([{ sha: last }]);
    last = answer.body.commit.sha;
    target = { branch: 'work/main/1' };
  }
  const merged = (await control.readFiles(last)).get('list.txt') ?? '';
  expect(merged.split('\n').filter((line) => !line.startsWith('line'))).toEqual(['one', 'two', '']);
});

test('a conflict is a 500 with an empty message and leaves no branch', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  await control.pushToBase({ 'list.txt': PLAIN });
  const base = await control.tip('main');
  const pr = await openAndCheck('one', { 'list.txt': withLine(5, 'mine') });
  const patch = await contentFreePatch(base, (await control.pull(pr)).headSha);
  await control.pushToBase({ 'list.txt': withLine(5, 'theirs') });
  const answer = await patchCall(patch, { branch: 'main', new_branch: 'work/x' });
  expect(answer.status).toBe(500);
  expect(answer.body.message).toBe('');
  expect(await control.branches()).not.toContain('work/x');
});

test('refusals: dummy sha missing, branch missing, new branch taken, protected branch, nothing to apply', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const pr = await openAndCheck('one', { 'one.txt': '1\n' });
  const { headSha, baseTip } = await control.pull(pr);
  const patch = await contentFreePatch(baseTip, headSha);
  expect((await patchCall(patch, { branch: 'main', new_branch: 'w', sha: undefined })).status).toBe(422);
  expect((await patchCall(patch, { branch: 'absent', new_branch: 'w' })).status).toBe(404);
  expect((await patchCall(patch, { branch: 'main', new_branch: 'one' })).status).toBe(422);
  expect((await patchCall(patch, { branch: 'main' })).status).toBe(403);
  expect((await patchCall('', { branch: 'main', new_branch: 'w' })).status).toBe(500);
  expect(await control.tip('main')).toBe(baseTip);
});

test('contents: create on a new branch, wrong blob id, several files in one commit', async () => {
  bench = await startBench();
  const content = Buffer.from('probe\n').toString('base64');
  const created = await bench.api('POST', '/contents/probe.txt', {
    branch: 'main',
    new_branch: 'mergeyard/main/verify-1',
    content,
    message: 'probe',
  });
  expect(created.status).toBe(201);
  expect(created.body.commit.parents).toMatchObject([{ sha: await bench.forge.control.tip('main') }]);
  const branch = 'mergeyard/main/verify-1';
  expect((await bench.api('POST', '/contents/probe.txt', { branch, content, message: 'again' })).status).toBe(
    422,
  );
  const wrong = { branch, content, sha: '1'.repeat(40), message: 'm' };
  expect((await bench.api('PUT', '/contents/probe.txt', wrong)).status).toBe(409);
  const many = await bench.api('POST', '/contents', {
    branch,
    message: 'two files',
    files: [
      { operation: 'create', path: 'a/b.txt', content },
      { operation: 'delete', path: 'probe.txt', sha: created.body.content.sha },
    ],
  });
  expect(many.status).toBe(201);
  const files = await bench.forge.control.readFiles(many.body.commit.sha);
  expect([...files.keys()]).toContain('a/b.txt');
  expect([...files.keys()]).not.toContain('probe.txt');
  const dir = await bench.api('GET', '/contents/.forgejo/workflows?ref=main');
  expect(dir.body).toMatchObject([{ name: 'mq-gate.yaml', type: 'file' }]);
});
