import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { REQUIRE_BANNER } from '../lib/bundle.ts';
import { buildDashboard } from '../lib/bundle-dashboard.ts';
import { OLDEST_NODE } from '../lib/node-versions.ts';

/** Folder of what the image runs: `index.mjs`, the page in `site`, and the embedded database beside them. */
const OUT_DIR = join('dist', 'onebox');
const DATABASE_PACKAGE = `@dynoxide/${process.platform}-${process.arch}`;

async function main(): Promise<void> {
  await build({
    entryPoints: ['onebox/main.ts'],
    outfile: join(OUT_DIR, 'index.mjs'),
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
