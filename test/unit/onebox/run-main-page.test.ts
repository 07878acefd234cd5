import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../onebox/config.ts';
import { buildOwnPage } from '../../../onebox/run-main.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-page-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function buildOne({ outDir }: { readonly outDir: string }): Promise<void> {
  mkdirSync(outDir);
  writeFileSync(join(outDir, 'index.html'), 'page');
}

test('the page is built in a folder of its own, which is removed once the page was read', async () => {
  const page = await buildOwnPage(buildOne, folder);
  expect(readdirSync(page.dir)).toEqual(['index.html']);
  page.remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('a page that cannot be built is told in one sentence with the next step, and leaves nothing', async () => {
  const fail = async ({ outDir }: { readonly outDir: string }) => {
    await buildOne({ outDir });
    throw new Error('Build failed with 1 error:\nerror: no space left on device');
  };
  const built = buildOwnPage(fail, folder);
  await expect(built).rejects.toThrow(ConfigError);
  await expect(built).rejects.toThrow(
    `The page cannot be built in ${folder}: Build failed with 1 error: Check the space and the rights there (TMPDIR names another folder), and that npm ci has ended.`,
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('a place for the page that refuses it is told in the same sentence', async () => {
  await expect(buildOwnPage(buildOne, join(folder, 'none'))).rejects.toThrow(
    /^The page cannot be built in .*none: ENOENT: .* Check the space and the rights there/,
  );
});
