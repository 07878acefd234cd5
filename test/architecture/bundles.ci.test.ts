import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { findFreePort } from '#core/adapters/system/free-port.ts';
import { BUNDLE_ENTRIES, type BundleName } from '../../lib/functions.ts';
import { ENGINE_BYTES_MAX, GZIP_KB_MAX, MINIFIED_BYTES_MAX } from '../bench/cold/goals.ts';
import { sharedBundles } from '../support/bundles.ts';

let outDir: string;
let metafile: Metafile;

beforeAll(async () => {
  outDir = await sharedBundles();
  metafile = JSON.parse(readFileSync(join(outDir, 'metafile.json'), 'utf8'));
}, 180_000);

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

  test('is within its limits, packed and unpacked', () => {
    const bytes = readFileSync(join(outDir, name, 'index.mjs'));
    expect(gzipSync(bytes).length / 1024).toBeLessThan(GZIP_KB_MAX[name]);
    expect(bytes.length).toBeLessThanOrEqual(name === 'engine' ? ENGINE_BYTES_MAX : MINIFIED_BYTES_MAX);
  });

  test('has zod without its languages', () => {
    expect(inputsOf(name).filter((path) => /zod\/.*\/locales\/(?!en|index)/.test(path)).length).toBeLessThan(
      3,
    );
  });
});

describe('the contents of each bundle', () => {
  const carriers = (pattern: RegExp): BundleName[] =>
    names.filter((name) => inputsOf(name).some((path) => pattern.test(path)));

  test('only the engine can write a status; few call a forge at all (A6)', () => {
    expect(carriers(/^core\/adapters\/forge-http\/status-writer\.ts$/)).toEqual(['engine']);
    expect(carriers(/^core\/adapters\/forge-http\//)).toEqual([
      'idle-look',
      'connections',
      'forge-ops',
      'engine',
    ]);
  });

  test('named functions seal or open credentials, and named ones read a secret; their roles tell the two apart (A118)', () => {
    expect(carriers(/^core\/adapters\/kms-vault\/vault\.ts$/)).toEqual([
      'worker',
      'connections',
      'forge-ops',
    ]);
    // Webhook secrets and chat addresses, and no token.
    expect(carriers(/^core\/adapters\/kms-vault\/secret-box\.ts$/)).toEqual([
      'webhooks-forge',
      'forge-ops',
      'notify',
    ]);
    expect(carriers(/@aws-sdk\/client-kms\//)).toEqual([
      'worker',
      'webhooks-forge',
      // Signs with a key of its own.
      'evidence',
      'connections',
      'forge-ops',
      'notify',
    ]);
    // `connections` and `forge-ops` read one only where the deployment opens credentials of earlier formats.
    expect(carriers(/@aws-sdk\/client-ssm\//)).toEqual([
      'worker',
      // Certificates of private forges, which are no secret, where a deployment names any.
      'idle-look',
      'webhooks-payments',
      'billing',
      'connections',
      'forge-ops',
      'admin',
      'notify',
      'secrets',
    ]);
    // Where the values of an earlier release are copied from.
    expect(carriers(/@aws-sdk\/client-secrets-manager\//)).toEqual(['secrets']);
  });

  test('only what sells carries the payment SDK, and it stays below its limit', () => {
    expect(names.filter((name) => packagesOf(name).has('stripe'))).toEqual(['billing']);
    expect(readFileSync(join(outDir, 'billing', 'index.mjs')).length / 1024).toBeLessThanOrEqual(
      MINIFIED_BYTES_MAX / 1024,
    );
    expect(carriers(/^core\/adapters\/payments-http\//)).toEqual(['webhooks-payments', 'billing']);
  });

  test('the engine carries neither queues nor keys (D-94)', () => {
    const sdks = [...packagesOf('engine')].filter((name) => /^@aws-sdk\/client-/.test(name));
    expect(sdks).toEqual(['@aws-sdk/client-dynamodb']);
  });

  test('the probe of the engine carries nothing but the way to wake it and the rates of its callers', () => {
    const sdks = [...packagesOf('container-health')].filter((name) => /^@aws-sdk\/client-/.test(name));
    expect(sdks.sort()).toEqual(['@aws-sdk/client-dynamodb', '@aws-sdk/client-ecs']);
    const rows = inputsOf('container-health').filter((path) => /adapters\/dynamo\/.*store\.ts$/.test(path));
    expect(rows).toEqual(['core/adapters/dynamo/rate-store.ts']);
    expect(carriers(/@aws-sdk\/client-ecs\//)).toEqual(['tick', 'worker', 'container-health']);
  });

  test('the page’s function carries neither SDK nor schemas of the API', () => {
    expect([...packagesOf('site')].filter((name) => name.startsWith('@aws-sdk/'))).toEqual([]);
    expect(inputsOf('site').filter((path) => /core\/contracts\/(routes|openapi)/.test(path))).toEqual([]);
  });

  test('the next steps of errors are said by clients, so that no function is larger for them', () => {
    expect(carriers(/^core\/contracts\/error-steps\.ts$/)).toEqual([]);
  });

  test('no bundle carries ways to credentials that exist on a developer’s machine only', () => {
    expect(
      carriers(/@aws-sdk\/(credential-provider-(sso|ini|process|web-identity|login)|nested-clients)\//),
    ).toEqual([]);
  });
});

test('the one box runs without a capability, on a read-only file system beside its volume', () => {
  const compose = readFileSync('onebox/compose.yml', 'utf8');
  expect(compose).toMatch(/^ {4}read_only: true$/m);
  expect(compose).toMatch(/^ {4}cap_drop: \[ALL\]$/m);
  expect(compose).toMatch(/no-new-privileges:true/);
  expect(readFileSync('onebox/Dockerfile', 'utf8')).toMatch(/^USER node$/m);
});

describe('the engine’s image', () => {
  const dockerfile = readFileSync('engine-container/Dockerfile', 'utf8');

  test('is one bundled file on a slim base, and not root', () => {
    expect(dockerfile).toMatch(/^FROM \S+\/node:\d+-slim(@sha256:[0-9a-f]{64})?$/m);
    expect(dockerfile.match(/^COPY .*$/gm)).toEqual(['COPY --chown=root:root index.mjs index.mjs.map ./']);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).not.toMatch(/^RUN|^ADD/m);
  });

  test('its bundle runs by itself: nothing beside it, nothing to write to, no rights of a user', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mergeyard-image-'));
    chmodSync(folder, 0o755);
    copyFileSync(join(outDir, 'engine', 'index.mjs'), join(folder, 'index.mjs'));
    chmodSync(folder, 0o555);
    const port = await findFreePort();
    const child = spawn(process.execPath, ['index.mjs'], {
      cwd: folder,
      ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
      env: {
        NODE_ENV: 'production',
        PORT: String(port),
        LISTEN_HOST: '127.0.0.1',
        LOG_LEVEL: 'info',
        TABLE_NAME: 'table',
        CONTAINER_SECRET: 'a-secret-of-no-stage',
        FORGE_ALLOW_HOSTS: '',
        FORGE_DENY_HOSTS: '',
        FORGE_CA_PEM: '',
        CONFIRM_BOUNCE: 'adaptive',
        PUBLIC_URL: 'https://queue.example.org',
        METRICS_DEPLOYMENT: '',
        AWS_REGION: 'us-east-1',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      await new Promise<void>((listening, failed) => {
        child.once('exit', (code) => failed(new Error(`ended with ${code}`)));
        child.stdout.on('data', (text: Buffer) => {
          if (text.includes('listening')) listening();
        });
      });
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
      const refused = await fetch(`http://127.0.0.1:${port}/internal/reconcile`, {
        method: 'POST',
        body: '{}',
      });
      expect(refused.status).toBe(401);
      child.kill('SIGTERM');
      const code = await new Promise((ended) => child.once('exit', ended));
      expect(code).toBe(0);
    } finally {
      child.kill('SIGKILL');
      chmodSync(folder, 0o755);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
