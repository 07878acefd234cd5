import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { buildBundles } from '../../lib/bundle.ts';
import { BUNDLE_ENTRIES, type BundleName } from '../../lib/functions.ts';

let outDir: string;
let metafile: Metafile;

beforeAll(async () => {
  outDir = mkdtempSync(join(tmpdir(), 'mergeyard-dist-'));
  metafile = await buildBundles({ outDir });
}, 60_000);
afterAll(() => rmSync(outDir, { recursive: true, force: true }));

const names = Object.keys(BUNDLE_ENTRIES) as BundleName[];

function inputsOf(name: BundleName): string[] {
  const file = relative(process.cwd(), join(outDir, name, 'index.mjs'));
  const output = metafile.outputs[file];
  if (output === undefined) throw new Error(`no output ${file}`);
  return Object.entries(output.inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path);
}

/** Packages as the bundler sees them, also nested ones. */
function packagesOf(name: BundleName): Set<string> {
  return new Set(
    inputsOf(name).flatMap((path) => {
      const inside = path.split('node_modules/').at(-1);
      if (inside === undefined || !path.includes('node_modules/')) return [];
      const [scope = '', rest = ''] = inside.split('/');
      return [scope.startsWith('@') ? `${scope}/${rest}` : scope];
    }),
  );
}

/** Gzipped kibibytes: what a cold start unpacks, with room for a little growth. */
const GZIP_KB_MAX: Readonly<Record<BundleName, number>> = {
  billing: 230,
  'webhooks-payments': 175,
  public: 190,
  api: 190,
  connections: 200,
  'forge-ops': 215,
  admin: 190,
  'container-health': 110,
  tick: 165,
  'wake-forward': 165,
  'webhooks-forge': 170,
  worker: 175,
  'worker-dlq': 160,
  'socket-connect': 190,
  'socket-disconnect': 160,
  'socket-default': 60,
  'socket-push': 190,
  notify: 210,
  site: 40,
  engine: 195,
};
/** What a function may weigh, minified: beyond it a cold start is felt. */
const MINIFIED_BYTES_MAX = 650 * 1024;

describe.each(names)('bundle %s', (name) => {
  test('holds neither the construct library nor a tool of ours', () => {
    const packages = packagesOf(name);
    for (const forbidden of [
      'aws-cdk-lib',
      'constructs',
      'cdk-nag',
      'esbuild',
      'fauxqs',
      'jest',
      'aws-cdk',
    ]) {
      expect([forbidden, packages.has(forbidden)]).toEqual([forbidden, false]);
    }
    expect(inputsOf(name).filter((path) => /^(test|local|lib|bin)\//.test(path))).toEqual([]);
  });

  test('is small', () => {
    const bytes = readFileSync(join(outDir, name, 'index.mjs'));
    expect(gzipSync(bytes).length / 1024).toBeLessThan(GZIP_KB_MAX[name]);
    expect(bytes.length).toBeLessThanOrEqual(MINIFIED_BYTES_MAX);
  });

  test('has zod without its languages', () => {
    expect(inputsOf(name).filter((path) => /zod\/.*\/locales\/(?!en|index)/.test(path)).length).toBeLessThan(
      3,
    );
  });
});

describe('who carries what', () => {
  const carriers = (pattern: RegExp): BundleName[] =>
    names.filter((name) => inputsOf(name).some((path) => pattern.test(path)));

  test('only the engine can write a status; few call a forge at all (A6)', () => {
    expect(carriers(/^core\/adapters\/forge-http\/status-writer\.ts$/)).toEqual(['engine']);
    expect(carriers(/^core\/adapters\/forge-http\//)).toEqual(['connections', 'forge-ops', 'engine']);
  });

  test('who seals or opens credentials, and who reads a secret; their roles tell the two apart (A118)', () => {
    expect(carriers(/^core\/adapters\/kms-vault\/|@aws-sdk\/client-kms\//)).toEqual([
      'worker',
      'connections',
      'forge-ops',
    ]);
    expect(carriers(/@aws-sdk\/client-secrets-manager\//)).toEqual([
      'worker',
      'webhooks-payments',
      'billing',
      'admin',
    ]);
  });

  test('only what sells carries the payment SDK, and it stays below 650 KB', () => {
    expect(names.filter((name) => packagesOf(name).has('stripe'))).toEqual(['billing']);
    expect(readFileSync(join(outDir, 'billing', 'index.mjs')).length / 1024).toBeLessThan(650);
    expect(carriers(/^core\/adapters\/payments-http\//)).toEqual(['webhooks-payments', 'billing']);
  });

  test('the engine carries neither queues nor keys (D-94)', () => {
    const sdks = [...packagesOf('engine')].filter((name) => /^@aws-sdk\/client-/.test(name));
    expect(sdks).toEqual(['@aws-sdk/client-dynamodb']);
  });

  test('the probe of the engine carries nothing but the way to wake it', () => {
    const sdks = [...packagesOf('container-health')].filter((name) => /^@aws-sdk\/client-/.test(name));
    expect(sdks).toEqual(['@aws-sdk/client-ecs']);
    expect(carriers(/@aws-sdk\/client-ecs\//)).toEqual(['tick', 'worker', 'container-health']);
  });

  test('the page’s function carries neither SDK nor schemas of the API', () => {
    expect([...packagesOf('site')].filter((name) => name.startsWith('@aws-sdk/'))).toEqual([]);
    expect(inputsOf('site').filter((path) => /core\/contracts\/(routes|openapi)/.test(path))).toEqual([]);
  });

  test('nobody carries ways to credentials that exist on a developer’s machine only', () => {
    expect(
      carriers(/@aws-sdk\/(credential-provider-(sso|ini|process|web-identity|login)|nested-clients)\//),
    ).toEqual([]);
  });
});
