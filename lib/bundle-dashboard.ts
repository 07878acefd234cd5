import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

export interface DashboardBundleOptions {
  /** Root of the project. @default the working directory */
  readonly rootDir?: string;
  /** Absolute folder to write to; emptied first. @default `dist/dashboard` in the root */
  readonly outDir?: string;
}

export interface DashboardBundle {
  readonly metafile: Metafile;
  /** Files that the first page needs before it shows anything, relative to the folder. */
  readonly initial: readonly string[];
}

/**
 * Marks in the corner of the tab icon, by the state of a repository. Each has a shape of its own, so colour alone says
 * nothing.
 */
const ICON_MARKS = {
  stop: '<path d="M20 20l10 10M30 20l-10 10" stroke="#fff" stroke-width="7"/><path d="M20 20l10 10M30 20l-10 10" stroke="#b42318" stroke-width="4"/>',
  busy: '<circle cx="25" cy="25" r="6.500" fill="#f0b429" stroke="#fff" stroke-width="1.500"/>',
};

const ENTRY = 'dashboard/main.tsx';

/** Makes the page: hashed scripts and one style sheet in `assets/`, and `index.html` that names them. */
export async function buildDashboard(options: DashboardBundleOptions = {}): Promise<DashboardBundle> {
  const rootDir = options.rootDir ?? process.cwd();
  const outDir = options.outDir ?? join(rootDir, 'dist', 'dashboard');
  await rm(outDir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: rootDir,
    entryPoints: [ENTRY],
    outdir: outDir,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'browser',
    target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
    format: 'esm',
    jsx: 'automatic',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const { script, style, chunks } = readOutputs(metafile, outDir, rootDir);
  await mkdir(outDir, { recursive: true });
  const icon = await readFile(join(rootDir, 'dashboard/favicon.svg'), 'utf8');
  await writeFile(join(outDir, 'favicon.svg'), icon);
  for (const [tone, mark] of Object.entries(ICON_MARKS))
    await writeFile(join(outDir, `favicon-${tone}.svg`), icon.replace('</svg>', `${mark}</svg>`));
  await writeFile(join(outDir, 'index.html'), formatIndex(script, style, chunks));
  return { metafile, initial: ['index.html', style, script, ...chunks] };
}

/** The entry's own files, and the chunks that it imports whatever the page. */
function readOutputs(metafile: Metafile, outDir: string, rootDir: string) {
  const prefix = `${outDir.startsWith(rootDir) ? outDir.slice(rootDir.length + 1) : outDir}/`;
  const relative = (file: string): string => file.slice(file.lastIndexOf('assets/'));
  const entry = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === ENTRY);
  if (entry === undefined) throw new Error(`no output of ${ENTRY} below ${prefix}`);
  const [script, output] = entry;
  const chunks = new Set<string>();
  const follow = (file: string): void => {
    for (const { path, kind } of metafile.outputs[file]?.imports ?? []) {
      if (kind !== 'import-statement' || chunks.has(path)) continue;
      chunks.add(path);
      follow(path);
    }
  };
  follow(script);
  if (output.cssBundle === undefined) throw new Error('the page has no style sheet');
  return { script: relative(script), style: relative(output.cssBundle), chunks: [...chunks].map(relative) };
}

function formatIndex(script: string, style: string, chunks: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Mergeyard</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/${style}">
${chunks.map((chunk) => `<link rel="modulepreload" href="/${chunk}">\n`).join('')}<script type="module" src="/${script}"></script>
</head>
<body>
<div id="root"></div>
<noscript>Mergeyard's dashboard needs JavaScript. Everything it shows is also in the API.</noscript>
</body>
</html>
`;
}
