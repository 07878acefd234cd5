import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const ADAPTER = 'core/adapters/forge-http';

function listSources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Everything that can change a forge, by method and place. A new line here is a new power over people's repositories. */
const WRITES = [
  'DELETE branches/{branch}',
  'DELETE hooks/{id}',
  'DELETE pulls/{n}/merge',
  'PATCH branch_protections/{name}',
  'POST actions/runs/{id}/cancel',
  'POST branch_protections',
  'POST branches',
  'POST contents',
  'POST contents/{path}',
  'POST diffpatch',
  'POST hooks',
  'POST pulls',
  'POST pulls/{n}/merge',
  'POST pulls/{n}/reviews',
  'POST statuses/{sha}',
];

describe('the list of the service’s writes to a forge', () => {
  const sources = listSources(ADAPTER);
  const calls = sources.flatMap((path) =>
    [...read(path).matchAll(/method: '([A-Z]+)',\s*label: '([^']+)'/g)].map(([, method, label]) => ({
      path,
      method: method ?? '',
      label: label ?? '',
    })),
  );

  test('is exactly this list: it closes no pull request, moves no base, edits no comment, and its merge calls ask about a schedule or for a person’s (A16)', () => {
    const writes = calls.filter(({ method }) => method !== 'GET').map(({ label }) => label);
    expect([...new Set(writes)].sort()).toEqual(WRITES);
  });

  test('every call names its method beside its label, so that the list above misses none', () => {
    for (const path of sources) {
      const methods = read(path).match(/method: '(?:POST|PUT|PATCH|DELETE)'/g) ?? [];
      const named = calls.filter((call) => call.path === path && call.method !== 'GET');
      expect([path, named.length]).toEqual([path, methods.length]);
    }
  });

  test('the engine’s merge call asks for a schedule on the recorded head, in a style that merges nothing, and takes it back (A16)', () => {
    const mergers = calls.filter(({ label }) => label === 'POST pulls/{n}/merge').map(({ path }) => path);
    expect(mergers).toEqual([`${ADAPTER}/person.ts`, `${ADAPTER}/schedule-probe.ts`]);
    const source = read(`${ADAPTER}/schedule-probe.ts`);
    expect(source).toContain('merge_when_checks_succeed: true');
    expect(source).toContain('force_merge: false');
    expect(source).toContain('head_commit_id: head');
    expect(source).toContain('Do: await chooseStyle(transport)');
    // Behind each answer that may have made one stands the call that takes it back.
    expect(source.match(/await cancelAutoMerge\(transport, pr\)/g)).toHaveLength(2);
  });

  test('a person’s merge call asks for a schedule alone, with the token of the call and no stored one (A16)', () => {
    const source = read(`${ADAPTER}/person.ts`);
    expect(source).toContain('merge_when_checks_succeed: true');
    expect(source).toContain('force_merge: false');
    const delivered = ['core', 'engine-container', 'lambdas', 'onebox'].flatMap(listSources);
    const askers = delivered.filter((path) => /\bopenPerson\(/.test(read(path)));
    expect(askers).toEqual(['core/services/pulls/enqueue-pull.ts']);
    expect(read('core/services/pulls/enqueue-pull.ts')).not.toMatch(/[vV]ault|credential/);
    expect(read('lambdas/forge-ops/routes.ts').match(/readForgeToken\(event\.headers\)/g)).toHaveLength(2);
  });

  test('no delivered code of ours starts a program: there is no git and no clone (A10)', () => {
    const delivered = ['core', 'engine-container', 'lambdas', 'onebox'].flatMap(listSources);
    const files = [
      // The page's own files, beside the bundle that serves them.
      'core/adapters/site-files/site-files.ts',
      // What one installation keeps in its folder: keys, sessions, its configuration and its database.
      'core/adapters/key-file/keyring.ts',
      'core/adapters/system/replace-file.ts',
      'core/adapters/identity-forge/sessions.ts',
      'core/adapters/key-file/signer.ts',
      'onebox/backup.ts',
      'onebox/bundle.ts',
      'onebox/config.ts',
      'onebox/database.ts',
      'onebox/doctor.ts',
      'onebox/folder-lock.ts',
      'onebox/folder-watch.ts',
      'onebox/table-look.ts',
      'onebox/table-tool.ts',
      'onebox/left-behind.ts',
      'onebox/own-files.ts',
      'onebox/serving-note.ts',
      // The page, which is built beside the temporary files of the machine.
      'onebox/run-main.ts',
      // The lines of the log.
      'onebox/line-writer.ts',
      'onebox/main.ts',
      'onebox/storage.ts',
      'onebox/snapshot.ts',
      // The sealed file of a move.
      'core/adapters/move-file/sealed-lines.ts',
      'onebox/move/options.ts',
      'onebox/move/place.ts',
    ];
    expect(delivered.length).toBeGreaterThan(100);
    expect(
      delivered.filter(
        (path) =>
          !files.includes(path) && /child_process|node:fs\b|simple-git|isomorphic-git/.test(read(path)),
      ),
    ).toEqual([]);
    expect(delivered.filter((path) => /child_process/.test(read(path))).sort()).toEqual([
      'onebox/database.ts',
      'onebox/table-tool.ts',
    ]);
    expect(delivered.filter((path) => /simple-git|isomorphic-git/.test(read(path)))).toEqual([]);
  });
});
