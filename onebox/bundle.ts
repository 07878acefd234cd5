import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { REQUIRE_BANNER } from '../lib/bundle.ts';
import { buildDashboard } from '../lib/bundle-dashboard.ts';
import { OLDEST_NODE } from '../lib/node-versions.ts';

/** Folder of what the image runs: `index.mjs` and the commands of an operator, the page in `site`, and the embedded database beside them. */
const OUT_DIR = join('dist', 'onebox');
/** Entry of each bundle, by the name of the bundled file. */
const ENTRIES = {
  index: 'onebox/main.ts',
  doctor: 'onebox/doctor-main.ts',
  backup: 'onebox/backup-main.ts',
  export: 'onebox/move/export-main.ts',
  import: 'onebox/move/import-main.ts',
} as const;
const DATABASE_PACKAGE = `@dynoxide/${process.platform}-${process.arch}`;

async function main(): Promise<void> {
  // Parts of an earlier build have other names.
  await rm(OUT_DIR, { recursive: true, force: true });
  await build({
    entryPoints: { ...ENTRIES },
    outdir: OUT_DIR,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    platform: 'node',
    target: `node${OLDEST_NODE}`,
    format: 'esm',
    mainFields: ['module', 'main'],
    // Only where the page is not built yet.
    external: ['esbuild'],
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: REQUIRE_BANNER },
  });
  await buildDashboard({ outDir: join(OUT_DIR, 'site') });
  await cp(join('node_modules', DATABASE_PACKAGE), join(OUT_DIR, 'node_modules', DATABASE_PACKAGE), {
    recursive: true,
  });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
