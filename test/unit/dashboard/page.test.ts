import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { dashboardCaching, dashboardPolicy } from '#core/contracts/internal/dashboard.ts';
import { buildDashboard, type DashboardBundle } from '../../../lib/bundle-dashboard.ts';

const INITIAL_GZIP_BYTES_MAX = 150 * 1024;
const ROOT = resolve(__dirname, '../../..');

let outDir: string;
let bundle: DashboardBundle;

beforeAll(async () => {
  outDir = mkdtempSync(join(tmpdir(), 'mergeyard-page-'));
  bundle = await buildDashboard({ rootDir: ROOT, outDir });
});
afterAll(() => rmSync(outDir, { recursive: true, force: true }));

test('the first page takes at most 150 KB, gzipped', () => {
  const sizes = bundle.initial.map((file) => gzipSync(readFileSync(join(outDir, file))).length);
  expect(sizes.length).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(INITIAL_GZIP_BYTES_MAX);
});

test('nothing is inline, and every file but the page and the icons has a hash in its name', () => {
  const index = readFileSync(join(outDir, 'index.html'), 'utf8');
  expect(index).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]+src=)/);
  for (const [, file = ''] of index.matchAll(/(?:src|href)="\/([^"]+)"/g))
    expect(readFileSync(join(outDir, file)).length).toBeGreaterThan(0);
  const names = readdirSync(outDir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const plain = names.map((entry) => entry.name).filter((name) => !/-[A-Z0-9]{8}\./.test(name));
  expect(plain.sort()).toEqual(['favicon-busy.svg', 'favicon-stop.svg', 'favicon.svg', 'index.html']);
});

test('neither a schema library nor anything of the service is in it', () => {
  const inputs = Object.keys(bundle.metafile.inputs);
  expect(
    inputs.filter((path) =>
      /node_modules\/zod|@aws-sdk|^core\/(services|adapters|ports|http)|^(lambdas|local|test)\//.test(path),
    ),
  ).toEqual([]);
  expect(inputs.filter((path) => path.startsWith('core/')).sort()).toEqual([
    'core/contracts/error-steps.ts',
    'core/contracts/evidence/approvals-text.ts',
    'core/contracts/internal/dashboard.ts',
    'core/contracts/notices/chat-fields.ts',
    'core/contracts/pulls/turn-names.ts',
    'core/contracts/routes/client.ts',
    'core/domain/api-limits.ts',
    'core/domain/forge/refusal-cause.ts',
    'core/domain/forge/runner-labels.ts',
    'core/domain/forge/token-scopes.ts',
    'core/domain/hash-text.ts',
    'core/domain/limits.ts',
    'core/domain/notices/notice-topics.ts',
    'core/domain/notices/notice-ways.ts',
    'core/domain/pulls/departure-codes.ts',
    'core/domain/pulls/find-pull-code.ts',
    'core/domain/pulls/merge-codes.ts',
    'core/domain/pulls/pull-code-kinds.ts',
    'core/domain/pulls/pull-code-table.ts',
    'core/domain/pulls/requeue-codes.ts',
    'core/domain/pulls/schedule-codes.ts',
    'core/domain/queue/batch.ts',
    'core/domain/queue/goes-on.ts',
    'core/domain/queue/queue-names.ts',
    'core/domain/repos/pause-words.ts',
    'core/domain/set-up/drift-since.ts',
    'core/domain/set-up/hook-seen.ts',
    'core/domain/tenants/api-token.ts',
    'core/domain/wakes/clocks.ts',
  ]);
});

test('no source sets markup, a style attribute or a script of its own', () => {
  const sources = readdirSync(join(ROOT, 'dashboard'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  expect(sources.length).toBeGreaterThan(30);
  const wrong = sources.filter((file) =>
    /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|eval\(|style=\{/.test(
      readFileSync(file, 'utf8'),
    ),
  );
  expect(wrong).toEqual([]);
  expect(sources.filter((file) => readFileSync(file, 'utf8').split('\n').length > 401)).toEqual([]);
});

/** Tables of numbers, and one of two short columns: cards would take them apart. */
const STAY_TABLES = ['pages/figures.tsx', 'parts/frame/charts.tsx', 'parts/settings/settings-file.tsx'];

test('every other table becomes cards on a phone', () => {
  const folder = join(ROOT, 'dashboard');
  const tables = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.tsx') && /<table>/.test(readFileSync(join(folder, file), 'utf8')));
  expect(tables.sort()).toEqual(STAY_TABLES);
});

test('the policy allows nothing but the page itself and the identity provider', () => {
  const policy = dashboardPolicy(['https://login.example.org']);
  expect(policy).toContain("connect-src 'self' https://login.example.org;");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*|data:|blob:/);
  expect(dashboardCaching('/assets/main-ABCDEFGH.js')).toContain('immutable');
  expect(dashboardCaching('/')).toBe('no-cache');
});
