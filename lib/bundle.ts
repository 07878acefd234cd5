import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { buildDashboard } from './bundle-dashboard.ts';
import { BUNDLE_ENTRIES } from './functions.ts';
import { OLDEST_NODE } from './node-versions.ts';

export interface BundleOptions {
  /** Root of the project. @default the working directory */
  readonly rootDir?: string;
  /** Absolute folder to write to; emptied first. @default `dist` in the root */
  readonly outDir?: string;
}

/** CommonJS code inside an ESM bundle asks for `require`. */
export const REQUIRE_BANNER =
  "import{createRequire as __cr}from'module';const require=__cr(import.meta.url);";

/** Ways to credentials that no function and no task has. */
const DEVELOPER_CREDENTIALS = ['sso', 'ini', 'process', 'web-identity'].map(
  (kind) => `@aws-sdk/credential-provider-${kind}`,
);
const NO_SHARED_CREDENTIALS = './core/adapters/system/no-shared-credentials.ts';

/** Parts of the payment SDK that have nothing to do with subscriptions. */
const FOREIGN_PAYMENTS = [
  'Apps',
  'Climate',
  'Entitlements',
  'FinancialConnections',
  'Forwarding',
  'Identity',
  'Issuing',
  'Radar',
  'ProductCatalog',
  'Reporting',
  'Reserve',
  'Sigma',
  'Tax',
  'Terminal',
  'TestHelpers',
  'ThreeDSecure',
  'Treasury',
  'V2',
].join('|');
const FOREIGN_PAYMENT_FILES = ['PaymentLinks', 'Quotes'].join('|');
const withoutForeignPayments: Plugin = {
  name: 'without-foreign-payments',
  setup(bundler) {
    const foreign = new RegExp(
      `[\\\\/]stripe[\\\\/]esm[\\\\/]resources[\\\\/]((${FOREIGN_PAYMENTS})[\\\\/].*|(${FOREIGN_PAYMENT_FILES}))\\.js$`,
    );
    // The SDK makes one of each by name, so the names stay.
    bundler.onLoad({ filter: foreign }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const names = [...source.matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
      return { contents: names.map((name) => `export class ${name} {}`).join('\n'), loader: 'js' };
    });
  },
};

/**
 * Faults that no call of ours meets: 85 KB, kept only because each is listed by name. They are of anything but parameters, of foreign
 * key stores, and of copies of tables.
 */
const FOREIGN_FAULTS: Readonly<Record<string, RegExp>> = {
  ssm: /^n0_registry\.registerError\((?!Parameter|Throttling|Validation|Internal).*$/gm,
  kms: /^n0_registry\.registerError\((?:CloudHsm|CustomKeyStore|Xks).*$/gm,
  dynamodb:
    /^n0_registry\.registerError\((?:Backup|ContinuousBackups|Export|GlobalTable|Import|InvalidExport|InvalidRestore|PointInTime|Replica[AN]|Table).*$/gm,
};
const FAULT_LISTS = /[\\/]client-(ssm|kms|dynamodb)[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/;
const withoutForeignFaults: Plugin = {
  name: 'without-foreign-faults',
  setup(bundler) {
    bundler.onLoad({ filter: FAULT_LISTS }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const listed = FOREIGN_FAULTS[FAULT_LISTS.exec(path)?.[1] ?? ''] ?? '';
      const texts = new Map(
        [...source.matchAll(/^const (_\w+) = (".*");$/gm)].map(([, name, text]) => [name, text]),
      );
      // A key that is computed may have an effect, for all that the bundler knows: what holds one is kept.
      const contents = source
        .replace(listed, '')
        .replace(/\[(_\w+)\]:/g, (key, name) => (texts.has(name) ? `${texts.get(name)}:` : key));
      return { contents, loader: 'js' };
    });
  },
};

/** Makes `dist/<name>/index.mjs` for every function and the engine, with one esbuild call. */
export async function buildBundles(options: BundleOptions = {}): Promise<Metafile> {
  const rootDir = options.rootDir ?? process.cwd();
  const outDir = options.outDir ?? join(rootDir, 'dist');
  // Only what is made here: the page is built into a folder beside these.
  await Promise.all(
    Object.keys(BUNDLE_ENTRIES).map((name) => rm(join(outDir, name), { recursive: true, force: true })),
  );
  const { metafile } = await build({
    absWorkingDir: rootDir,
    entryPoints: Object.entries(BUNDLE_ENTRIES).map(([name, entry]) => ({ in: entry, out: `${name}/index` })),
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    // Deployed on a later one; the same bundle runs locally.
    target: `node${OLDEST_NODE}`,
    format: 'esm',
    minify: true,
    // The SDK's CommonJS files cannot be tree-shaken: half the size is theirs.
    mainFields: ['module', 'main'],
    alias: Object.fromEntries(DEVELOPER_CREDENTIALS.map((name) => [name, NO_SHARED_CREDENTIALS])),
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [withoutForeignPayments, withoutForeignFaults],
    banner: { js: REQUIRE_BANNER },
  });
  await mkdir(join(outDir, 'engine'), { recursive: true });
  await copyFile(join(rootDir, 'engine-container/Dockerfile'), join(outDir, 'engine/Dockerfile'));
  await writeFile(join(outDir, 'metafile.json'), JSON.stringify(metafile));
  return metafile;
}

function printSizes(metafile: Metafile): void {
  for (const [file, output] of Object.entries(metafile.outputs)) {
    if (/\.(mjs|js|css)$/.test(file)) console.log(`${Math.round(output.bytes / 1024)} KB  ${file}`);
  }
}

if (process.argv[1]?.endsWith(join('lib', 'bundle.ts'))) {
  buildBundles()
    .then(async (functions) => {
      printSizes(functions);
      printSizes((await buildDashboard()).metafile);
      // Beside the function that serves it, so that code and page are one asset.
      await cp('dist/dashboard', 'dist/site/files', { recursive: true });
    })
    .catch((error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    });
}
