import { createForgeLog } from '#core/adapters/forge-http/gate/run-log.ts';
import { Secret } from '#core/secret.ts';
import { openScripted } from '../../../../../support/open-scripted.ts';
import { sha } from '../../../../../support/scripted-forge.ts';

const RUN = { sha: sha(9), url: 'https://forge.test/acme/app/actions/runs/4' };

function read(version: string) {
  const { transport } = openScripted(({ path }) =>
    path === '/version' ? { json: { version } } : { status: 404, text: '<html>', type: 'text/html' },
  );
  return createForgeLog(transport, new Secret('t')).readRunLog(RUN);
}

describe('a log of a run behind a page in place of the list of runs', () => {
  test('is not offered by a version without that list', async () => {
    expect(await read('11.0.15+gitea-1.22.0')).toEqual({ kind: 'not_offered' });
  });

  test('is not known of a version that lists runs', async () => {
    await expect(read('16.0.0+gitea-1.22.0')).rejects.toMatchObject({ kind: 'unreachable', status: 404 });
  });
});

test('the run of a log is looked for without the pull requests from its branch', async () => {
  const { transport, seen } = openScripted(() => ({ json: { workflow_runs: [], total_count: 0 } }));
  expect(await createForgeLog(transport, new Secret('t')).readRunLog(RUN)).toEqual({ kind: 'no_run' });
  expect(seen[0]?.query).toMatchObject({ head_sha: sha(9), exclude_pull_requests: 'true' });
});
