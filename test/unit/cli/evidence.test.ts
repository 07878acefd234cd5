import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyIdOf } from '#core/contracts/evidence/dsse.ts';
import { run } from '../../../cli/run.ts';
import { callCli } from '../../support/call-cli.ts';
import {
  BASE,
  CLONE,
  type Clone,
  check,
  findDeafBits,
  gitOf,
  HEAD,
  id,
  MERGE,
  PEM,
  privateKey,
  publicKey,
  seal,
  statementOf,
  TREE,
} from '../../support/signed-landing.ts';

describe('mergeyard verify', () => {
  test('a statement that the key has signed and the clone bears out is verified, and told', async () => {
    const { code, out } = await check(seal(statementOf()));
    expect([code, ...out]).toEqual([
      0,
      `verified: ${MERGE}`,
      'repository: acme/app main',
      `pull request: #7 at ${HEAD}`,
      'scheduled by: ada',
      'approved by: bob',
      `tree: ${TREE}`,
      'gate: success https://f/1',
      'landed: 2026-11-23T00:00:00.000Z',
      `key: ${keyIdOf(publicKey)}`,
    ]);
  });

  // Every bit: `evidence.long.test.ts`.
  test('one changed bit of the envelope, and it is not verified', async () => {
    expect(await findDeafBits(211)).toEqual([]);
  });

  const landing = statementOf();
  test.each<[string, string, Partial<Clone>]>([
    ['a commit with another tree', seal(landing), { tree: id('9') }],
    ['a commit that does not stand on the base', seal(landing), { history: [HEAD] }],
    ['a merge into another base', seal(landing), { parents: [id('8'), HEAD] }],
    ['a merge of another head', seal(landing), { parents: [BASE, id('8')] }],
    ['a statement of another commit', seal(statementOf({ mergeCommit: id('4') })), {}],
    ['a statement that says more than this version knows', seal({ ...landing, more: 1 }), {}],
    [
      'a statement of another kind',
      seal({ ...landing, predicateType: 'https://slsa.dev/provenance/v1' }),
      {},
    ],
    ['a payload of another type', seal(landing, 'text/plain'), {}],
    [
      'a subject that its predicate contradicts',
      seal({ ...landing, subject: statementOf({ tree: id('9') }).subject }),
      {},
    ],
    ['no envelope', '[]', {}],
  ])('%s is not verified, although the key signed it', async (_what, envelope, clone) => {
    expect((await check(envelope, { ...CLONE, ...clone })).code).toBe(1);
  });

  test('another key, a private key and no key verify nothing', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keys = [
      other.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'key',
    ];
    for (const key of keys) expect((await check(seal(landing), CLONE, key)).code).toBe(1);
  });

  test('a squash keeps the head out of the history: then it says that the signature alone names the head', async () => {
    const squashed = await check(seal(landing), { tree: TREE, parents: [BASE], history: [BASE] });
    expect([squashed.code, squashed.out.at(-1)]).toEqual([
      0,
      `note: head ${HEAD} was squashed or rebased: the signature alone names it`,
    ]);
  });

  test('a run that judged a longer batch is told', async () => {
    const { out } = await check(seal(statementOf({ gatedTree: id('7') })));
    expect(out.at(-1)).toBe(
      `note: the gate run judged ${id('7')}, the state after the last pull request of the batch; this tree is a step before it`,
    );
  });

  test.each<[string, (text: string) => string | Buffer]>([
    ['in UTF-16, as a shell of Windows writes them,', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['with a byte order mark', (text) => `\ufeff${text}`],
  ])('files %s are read', async (_what, write) => {
    const folder = mkdtempSync(join(tmpdir(), 'verify-'));
    const [evidence, key] = [join(folder, 'e.json'), join(folder, 'key.pem')];
    const toCrLf = (text: string): string => text.replaceAll('\n', '\r\n');
    writeFileSync(evidence, write(toCrLf(`${seal(landing)}\n`)));
    writeFileSync(key, write(toCrLf(PEM)));
    const called = await callCli(['verify', 'HEAD', '--evidence', evidence, '--key', key], {
      readGit: gitOf(CLONE),
    });
    expect([called.code, called.out[0]]).toEqual([0, `verified: ${MERGE}`]);
    rmSync(folder, { recursive: true });
  });

  test('with both files it needs no login and asks nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verify-'));
    const [evidence, key] = [join(folder, 'e.json'), join(folder, 'key.pem')];
    writeFileSync(evidence, seal(landing));
    writeFileSync(key, PEM);
    const asked: string[] = [];
    const machine = {
      env: { HOME: folder },
      cwd: folder,
      isTerminal: false,
      print: () => {},
      now: () => 0,
      sleep: async () => {},
      readGit: gitOf(CLONE),
      fetch: async (url: unknown) => {
        asked.push(String(url));
        throw new Error('no network');
      },
    };
    const argv = ['verify', 'HEAD', '--evidence', evidence, '--key', key];
    const complaints: string[] = [];
    const codes = [
      await run(
        argv,
        machine,
        async () => '',
        (line) => void complaints.push(line),
      ),
      await run(
        ['verify', 'nothing', ...argv.slice(2)],
        machine,
        async () => '',
        (line) => void complaints.push(line),
      ),
      await run(
        [...argv.slice(0, 3), `${evidence}.gone`, ...argv.slice(4)],
        machine,
        async () => '',
        (line) => void complaints.push(line),
      ),
    ];
    rmSync(folder, { recursive: true });
    expect([codes, asked]).toEqual([[0, 64, 64], []]);
    expect(complaints).toEqual([
      'nothing is no commit of the git repository in this folder.',
      `${evidence}.gone cannot be read.`,
    ]);
  });
});
