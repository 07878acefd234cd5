import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createLog } from '#core/telemetry.ts';
import { readConfig } from '../../onebox/config.ts';
import { startOnebox } from '../../onebox/service.ts';
import { OAUTH_CLIENT } from '../forge/http/oauth.ts';
import { type LocalService, startLocalService } from '../service.ts';

/** The part of a running service that the story uses, in either edition. */
export type Installation = Pick<LocalService, 'baseUrl' | 'store' | 'vault' | 'fireTick' | 'stop'>;

export interface InstallationOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly forgeUrl: string;
  readonly caFile: string | null;
}

/** The cloud edition: its template on emulators. */
export function startTemplate({
  dataDir,
  port,
  forgeUrl,
  caFile,
}: InstallationOptions): Promise<LocalService> {
  const context = {
    forgeAllowHosts: new URL(forgeUrl).host,
    ...(caFile === null ? {} : { forgeCaFile: resolve(caFile) }),
  };
  return startLocalService({ dataDir, port, context });
}

/** The one box: the same services in this process. The story has no sign-in. */
export async function startOneBox({
  dataDir,
  port,
  forgeUrl,
  caFile,
}: InstallationOptions): Promise<Installation> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'mergeyard.yml');
  const config = {
    listen: `127.0.0.1:${port}`,
    public_url: `http://127.0.0.1:${port}`,
    data_dir: join(dataDir, 'data'),
    forge: { url: forgeUrl, ...(caFile === null ? {} : { ca_file: resolve(caFile) }) },
    sign_in: {
      client_id: OAUTH_CLIENT.id,
      client_secret: OAUTH_CLIENT.secret,
      administrators: { users: ['owner'] },
    },
  };
  // JSON is YAML as well.
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const onebox = await startOnebox({
    config: readConfig(file),
    siteDir: join(dataDir, 'no-page'),
    log: createLog({
      service: 'onebox',
      write: (line) => appendFileSync(join(dataDir, 'service.log'), `${line}\n`),
    }),
    env: process.env,
  });
  const { url, store, vault, tick, stop } = onebox;
  return { baseUrl: url, store, vault, fireTick: tick, stop };
}
