import { build } from 'esbuild';
import { REQUIRE_BANNER } from './bundle.ts';
import { OLDEST_NODE } from './node-versions.ts';

/** The command line as one file that Node runs alone, `outfile`. */
export const bundleCli = (outfile: string) =>
  build({
    entryPoints: ['cli/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    target: `node${OLDEST_NODE}`,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: `#!/usr/bin/env node\n${REQUIRE_BANNER}` },
  });

if (process.argv[1]?.endsWith('bundle-cli.ts')) {
  bundleCli('dist/cli/mergeyard.mjs').catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
