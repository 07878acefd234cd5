import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpResponse, HttpSend } from '#core/adapters/http-guard/http-send.ts';
import type { OneboxConfig } from './config.ts';

/** One thing that was looked at. `fix` is absent where it is right. */
export interface Finding {
  readonly what: string;
  readonly fix?: string;
}

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Sessions and signed calls bear less than a minute. */
const CLOCK_DIFFERENCE_MAX_MS = 30_000;
const DISK_FREE_MIN_BYTES = 1024 ** 3;

/** Looks at folder, disk, forge, sign-in and clock. Never throws for what it looks at. */
export async function examine(
  config: OneboxConfig,
  send: HttpSend,
  now: () => number = Date.now,
): Promise<readonly Finding[]> {
  return [...examineFolder(config), ...(await examineForge(config, send, now))];
}

function examineFolder({ data_dir: dir }: OneboxConfig): readonly Finding[] {
  const what = `folder ${dir}`;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.R_OK | constants.W_OK);
  } catch {
    return [{ what, fix: 'The account of the service has to be able to write there.' }];
  }
  const { bavail, bsize } = statfsSync(dir);
  const keys = join(dir, 'keys.json');
  const isOpenToOthers = existsSync(keys) && (statSync(keys).mode & 0o077) !== 0;
  return [
    { what },
    bavail * bsize >= DISK_FREE_MIN_BYTES
      ? { what: 'disk' }
      : { what: 'disk', fix: 'Less than 1 GiB is free in the data folder: make room.' },
    isOpenToOthers ? { what: 'keys', fix: `Others may read the keys: chmod 600 ${keys}` } : { what: 'keys' },
  ];
}

async function examineForge(
  { forge, public_url: publicUrl }: OneboxConfig,
  send: HttpSend,
  now: () => number,
): Promise<readonly Finding[]> {
  const base = forge.url.replace(/\/+$/, '');
  const version = await get(send, `${base}/api/v1/version`);
  if (version === null || version.status !== 200) {
    const fix = `${base} does not answer over TLS. Check the address, the network and forge.ca_file.`;
    return [{ what: 'forge', fix }];
  }
  const told = Date.parse(version.headers.date ?? '');
  const clock = { what: 'clock' };
  const discovery = await get(send, `${base}/.well-known/openid-configuration`);
  const isSecure = publicUrl.startsWith('https://') || /^http:\/\/(127\.|localhost)/.test(publicUrl);
  return [
    { what: `forge ${readVersion(version)}` },
    Number.isNaN(told) || Math.abs(told - now()) <= CLOCK_DIFFERENCE_MAX_MS
      ? clock
      : {
          ...clock,
          fix: `The forge's clock is ${Math.round((told - now()) / 1000)} s away: run NTP on both.`,
        },
    discovery?.status === 200
      ? { what: 'sign-in' }
      : { what: 'sign-in', fix: 'The forge is no OAuth2 provider: [oauth2] ENABLED = true in its app.ini.' },
    isSecure
      ? { what: 'public_url' }
      : { what: 'public_url', fix: 'Sessions would travel in the clear: put a proxy with TLS in front.' },
  ];
}

function readVersion({ body }: HttpResponse): string {
  try {
    return String((JSON.parse(body.toString('utf8')) as { version?: unknown }).version);
  } catch {
    return 'of an unknown version';
  }
}

async function get(send: HttpSend, url: string): Promise<HttpResponse | null> {
  try {
    const limits = { timeoutMs: TIMEOUT_MS, bodyBytesMax: ANSWER_BYTES_MAX };
    return await send({ method: 'GET', url, headers: { accept: 'application/json' }, ...limits });
  } catch {
    return null;
  }
}
