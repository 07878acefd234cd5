import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { readConfig } from '../../../onebox/config.ts';
import { examine } from '../../../onebox/doctor.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NOW = Date.UTC(2026, 10, 22, 12);

function givenConfig(publicUrl = 'https://mergeyard.example.org') {
  const file = join(folder, 'mergeyard.yml');
  writeFileSync(
    file,
    JSON.stringify({
      public_url: publicUrl,
      forge: { url: 'https://git.example.org' },
      sign_in: { client_id: 'id', client_secret: 'secret', administrators: {} },
    }),
  );
  return readConfig(file);
}

/** A forge whose addresses answer so. */
function givenForge({ status = 200, aheadMs = 0, discovery = 200 } = {}): HttpSend {
  return async ({ url }) => ({
    status: url.endsWith('/version') ? status : discovery,
    headers: { date: new Date(NOW + aheadMs).toUTCString() },
    body: Buffer.from('{"version":"15.0.3"}'),
  });
}

const fixesOf = async (send: HttpSend, publicUrl?: string): Promise<readonly string[]> =>
  (await examine(givenConfig(publicUrl), send, () => NOW)).flatMap(({ what, fix }) =>
    fix === undefined ? [] : [`${what}: ${fix}`],
  );

describe('the doctor', () => {
  test('finds nothing where all is right, and names the version of the forge', async () => {
    expect(await fixesOf(givenForge())).toEqual([]);
    const seen = await examine(givenConfig(), givenForge(), () => NOW);
    expect(seen.map(({ what }) => what)).toContain('forge 15.0.3');
  });

  test.each([
    ['a forge that does not answer', givenForge({ status: 502 }), /^forge: .* forge\.ca_file/],
    ['a clock that is a minute away', givenForge({ aheadMs: 60_000 }), /^clock: .* 60 s away/],
    ['a forge that signs no people in', givenForge({ discovery: 404 }), /^sign-in: .*\[oauth2\]/],
  ])('says how to mend %s', async (_what, send, words) => {
    expect(await fixesOf(send)).toEqual([expect.stringMatching(words)]);
  });

  test('says so where sessions would travel in the clear', async () => {
    expect(await fixesOf(givenForge(), 'http://mergeyard.example.org')).toEqual([
      expect.stringMatching(/^public_url: Sessions/),
    ]);
  });
});
