import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { BUNDLE_ENTRIES } from './functions.ts';

export interface BundleOptions {
  /** Root of the project. @default the working directory */
  readonly rootDir?: string;
  /** Absolute folder to write to; emptied first. @default `dist` in the root */
  readonly outDir?: string;
}

/** CommonJS code inside an ESM bundle asks for `require`. */
const REQUIRE_BANNER = "import{createRequire as __cr}from'module';const require=__cr(import.meta.url);";

/** Makes `dist/<name>/index.mjs` for every function and the engine, with one esbuild call. */
export async function buildBundles(options: BundleOptions = {}): Promise<Metafile> {
  const rootDir = options.rootDir ?? process.cwd();
  const outDir = options.outDir ?? join(rootDir, 'dist');
  await rm(outDir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: rootDir,
    entryPoints: Object.entries(BUNDLE_ENTRIES).map(([name, entry]) => ({ in: entry, out: `${name}/index` })),
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    // Deployed on Node 22 or later; the code itself uses nothing that Node 20 lacks, so the same bundle runs locally.
    target: 'node22',
    format: 'esm',
    minify: true,
    // The SDK's CommonJS files cannot be tree-shaken: half the size is theirs.
    mainFields: ['module', 'main'],
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: REQUIRE_BANNER },
  });
  await mkdir(join(outDir, 'engine'), { recursive: true });
  await copyFile(join(rootDir, 'engine-container/Dockerfile'), join(outDir, 'engine/Dockerfile'));
  await writeFile(join(outDir, 'metafile.json'), JSON.stringify(metafile));
  return metafile;
}

function printSizes(metafile: Metafile): void {
  for (const [file, output] of Object.entries(metafile.outputs)) {
    if (file.endsWith('.mjs')) console.log(`${Math.round(output.bytes / 1024)} KB  ${file}`);
  }
}

if (process.argv[1]?.endsWith(join('lib', 'bundle.ts'))) {
  buildBundles().then(printSizes, () => {
    process.exitCode = 1;
  });
}
