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
