import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../../cli/run.ts';

const REPO = {
  id: 'r',
  name: 'acme/app',
  base_branch: 'main',
  queue_enabled: true,
  batch_target: 4,
  bisect_fanout: 1,
  high_labels: ['urgent'],
};
const LOGIN = { MERGEYARD_URL: 'https://q.example.org', MERGEYARD_TOKEN: 'mgy_secret' };
const named = ['--repo', 'acme/app'];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The same where the service reads the file: by the one on the base the fan-out is 4. */
const READ_BY_SERVICE = {
  ...REPO,
  settings_file: true,
  file_settings: {
    values: {
      batch_target: { value: 4, origin: 'page' },
      bisect_fanout: { value: 4, origin: 'file' },
      high_labels: { value: ['urgent'], origin: 'page' },
    },
  },
};

async function call(
  argv: readonly string[],
  text: string | null,
  env: Record<string, string> = LOGIN,
  shown: object = REPO,
) {
  const path = join(folder, 'file.yml');
  if (text !== null) writeFileSync(path, text);
  const [out, complaints, sent]: [string[], string[], object[]] = [[], [], []];
  const code = await run(
    argv.map((word) => (word === 'FILE' ? path : word)),
    {
      env: { ...env, HOME: folder },
      cwd: folder,
      isTerminal: false,
      now: () => 0,
      fetch: async (url, init) => {
        const method = init?.method ?? 'GET';
        if (method !== 'GET')
          sent.push({ method, path: new URL(String(url)).pathname, body: JSON.parse(String(init?.body)) });
        else sent.push({ method });
        return Response.json(method === 'GET' ? [shown] : shown);
      },
      print: (line) => void out.push(line.replaceAll(folder, '')),
      readGit: async () => null,
      sleep: async () => {},
    },
    async () => '',
    (line) => complaints.push(line.replaceAll(folder, '')),
  );
  return { code, out, complaint: complaints.join('\n'), sent };
}

describe('mergeyard settings check', () => {
  test('names each wrong line, ends with 1, and neither needs a login nor asks anything', async () => {
    const text = 'batch_target: many\ngate: statuses\n';
    expect(await call(['settings', 'check', 'FILE'], text, {})).toMatchObject({
      code: 1,
      complaint: '',
      sent: [],
      out: [
        '/file.yml:1:15: batch_target: Invalid input: expected number, received string.',
        '/file.yml:2:1: "gate" cannot be set in the file: it decides what is proven. Set it on the page.',
      ],
    });
  });

  test('says of a right file how many settings it has', async () => {
    expect(await call(['settings', 'check', 'FILE'], 'batch_target: 8', {})).toMatchObject({
      code: 0,
      out: ['/file.yml is right: 1 setting'],
      sent: [],
    });
  });

  test('gives lines and keys to a script', async () => {
    const { code, out } = await call(['settings', 'check', 'FILE', '--json'], 'batch_targt: 8', {});
    expect([code, JSON.parse(out[0] ?? '')]).toMatchObject([
      1,
      { ok: false, problems: [{ line: 1, column: 1, key: 'batch_targt' }] },
    ]);
  });

  test('of a file that is not there, and another word, is a misuse', async () => {
    const gone = await call(['settings', 'check', 'FILE'], null, {});
    expect([gone.code, gone.complaint]).toEqual([64, expect.stringContaining('file.yml')]);
    const wrong = await call(['settings', 'chek', 'FILE'], 'batch_target: 8', {});
    expect([wrong.code, wrong.complaint]).toEqual([
      64,
      'settings takes one of: check, compare, apply, show, schema.',
    ]);
  });

  test('schema prints the JSON schema without a login', async () => {
    const { code, out } = await call(['settings', 'schema', '--json'], null, {});
    expect([code, JSON.parse(out[0] ?? '')]).toMatchObject([0, { additionalProperties: false }]);
  });
});

describe('mergeyard settings compare and apply', () => {
  const text = 'batch_target: 8\nbisect_fanout: 1\nhigh_labels: [urgent, hot]\n';
  const lines = ['  batch_target: 4 -> 8', '  high_labels: ["urgent"] -> ["urgent","hot"]'];

  test('compare says what would change, and changes nothing', async () => {
    const { code, out, sent } = await call(['settings', 'compare', 'FILE', ...named], text);
    expect([code, out]).toEqual([0, ['acme/app main: 2 settings would change', ...lines]]);
    expect(sent).toEqual([{ method: 'GET' }]);
  });

  test('apply sends what differs, and nothing else', async () => {
    const { code, out, sent } = await call(['settings', 'apply', 'FILE', ...named], text);
    expect([code, out]).toEqual([0, ['acme/app main: 2 settings changed', ...lines]]);
    expect(sent.at(-1)).toEqual({
      method: 'PATCH',
      path: '/api/v1/user/repos/r',
      body: { batch_target: 8, high_labels: ['urgent', 'hot'] },
    });
  });

  test('apply of what holds already sends nothing', async () => {
    const { out, sent } = await call(['settings', 'apply', 'FILE', ...named], 'batch_target: 4');
    expect([out, sent]).toEqual([['acme/app main: nothing changed'], [{ method: 'GET' }]]);
  });

  test.each(['compare', 'apply'])('%s of a wrong file asks and sends nothing', async (action) => {
    const { code, sent } = await call(['settings', action, 'FILE', ...named], `${text}gate: statuses`);
    expect([code, sent]).toEqual([1, []]);
  });
});

describe('where the service reads the file by itself', () => {
  const ask = (action: string, text: string) =>
    call(['settings', action, 'FILE', ...named], text, LOGIN, READ_BY_SERVICE);

  test('compare says what differs from the values that hold', async () => {
    expect((await ask('compare', 'bisect_fanout: 4')).out).toEqual(['acme/app main: nothing would change']);
    expect((await ask('compare', 'bisect_fanout: 1')).out).toEqual([
      'acme/app main: 1 setting would change',
      '  bisect_fanout: 4 -> 1',
    ]);
  });

  test('apply sends nothing: what is landed holds, and what is not has to be landed', async () => {
    expect(await ask('apply', 'bisect_fanout: 4')).toMatchObject({
      code: 0,
      out: ['acme/app main: nothing changed'],
      sent: [{ method: 'GET' }],
    });
    expect(await ask('apply', 'bisect_fanout: 1')).toMatchObject({
      code: 1,
      sent: [{ method: 'GET' }],
      out: [
        'acme/app main: nothing was sent. The queue reads .mergeyard.yml on its base branch by itself: land the file there.',
        '  bisect_fanout: 4 -> 1',
      ],
    });
  });
});

describe('mergeyard settings show', () => {
  const show = (file_settings: object, settings_file = true) =>
    call(['settings', 'show', ...named], null, LOGIN, { ...REPO, settings_file, file_settings });
  const { values } = READ_BY_SERVICE.file_settings;
  const [commit, from] = ['c'.repeat(40), 'f'.repeat(40)];
  const rows = ['batch_target: 4 (page)', 'bisect_fanout: 4 (file)', 'high_labels: ["urgent"] (page)'];

  test('tells each value that holds and where it comes from', async () => {
    const right = { state: 'right', commit, from, problems: [], values };
    expect(await show(right)).toMatchObject({
      code: 0,
      complaint: '',
      sent: [{ method: 'GET' }],
      out: [
        `acme/app main: .mergeyard.yml of ${'f'.repeat(10)} holds before the values of the settings page. A change takes effect once it has landed.`,
        ...rows,
      ],
    });
  });

  test('of a wrong file on the base tells each line, and ends with 1', async () => {
    const problems = [{ line: 2, column: 1, key: 'gate', says: '"gate" cannot be set\u001b[2J.' }];
    expect(await show({ state: 'wrong', commit, from, problems, values })).toMatchObject({
      code: 1,
      out: [
        `acme/app main: .mergeyard.yml at ${'c'.repeat(10)} is wrong: those of ${'f'.repeat(10)} stay in force. Land a correction.`,
        '.mergeyard.yml:2:1: "gate" cannot be set.',
        ...rows,
      ],
    });
  });

  test('where the file is not read, says so, and takes no file', async () => {
    const off = { state: 'off', commit: null, from: null, problems: [], values };
    expect((await show(off, false)).out[0]).toMatch(/^acme\/app main: The queue can read \.mergeyard\.yml/);
    const withFile = await call(['settings', 'show', 'FILE', ...named], 'batch_target: 8');
    expect([withFile.code, withFile.complaint]).toEqual([
      64,
      'settings show tells what holds on the service, and takes no file.',
    ]);
  });
});
