import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HttpResponse, HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { createForgeOAuth } from '#core/adapters/identity-forge/forge-oauth.ts';
import { createSmtp, type SmtpAnswer } from '#core/adapters/smtp/smtp.ts';
import { parseUrl } from '#core/domain/parse-url.ts';
import { Secret } from '#core/secret.ts';
import { redirectUriOf } from '../lambdas/sign-in/routes.ts';
import type { OneboxConfig } from './config.ts';
import { findFaults, KEYS_FILE } from './own-files.ts';
import { findLost } from './own-rows.ts';
import type { TableLook } from './table-look.ts';

/**
 * One result of the checks, in words that a stranger may read until the first sign-in. `fix` is absent where nothing is
 * wrong.
 */
export interface Finding {
  readonly what: string;
  /** Value found here, such as an address. */
  readonly note?: string;
  readonly fix?: string;
  /** Page of the forge on which it is repaired. */
  readonly link?: string;
}

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Largest difference of the clocks, in ms: sessions and signed calls fail from a minute on. */
const CLOCK_DIFFERENCE_MS_MAX = 30_000;
const DISK_FREE_BYTES_MIN = 1024 ** 3;

/**
 * Looks at folder, table, disk, keys, forge, clock, application, sign-in and mail. The one list of checks: the doctor prints it, and the
 * first page shows it. Never throws for what it looks at, and names no secret and no path of the machine.
 */
export async function examine(
  config: OneboxConfig,
  send: HttpSend,
  now: () => number = Date.now,
  askMail: AskMail | null = mailLoginOf(config),
  lookAtTable: LookAtTable = async () => null,
): Promise<readonly Finding[]> {
  const configuration = { what: 'configuration', note: 'read, each key known' };
  return [
    configuration,
    ...examineFolder(config, await lookAtTable()),
    ...(await examineForge(config, send, now)),
    await examineMail(config, askMail),
  ];
}

/** Looks at the table as a start does. Null: there is no table, or a process serves it and has looked. */
type LookAtTable = () => Promise<TableLook | null>;

function examineFolder(config: OneboxConfig, look: TableLook | null): readonly Finding[] {
  const { data_dir: dir } = config;
  const what = 'data folder';
  const folder = nearestOf(dir);
  try {
    if (!statSync(folder).isDirectory()) throw new Error('no folder');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [{ what, fix: 'It has to be a folder that the account of the service can write to.' }];
  }
  const { bavail, bsize } = statfsSync(folder);
  const keys = join(dir, KEYS_FILE);
  const isOpenToOthers = existsSync(keys) && (statSync(keys).mode & 0o077) !== 0;
  const faults = findFaults(dir);
  return [
    { what },
    tableFinding(faults.table ?? look?.fault ?? null),
    ...rowsFinding(config, look),
    bavail * bsize >= DISK_FREE_BYTES_MIN
      ? { what: 'disk' }
      : { what: 'disk', fix: 'Less than 1 GiB is free in the data folder: make room.' },
    keysFinding(faults.keys, isOpenToOthers),
  ];
}

const tableFinding = (fault: string | null): Finding =>
  fault === null ? { what: 'table' } : { what: 'table', fix: fault };

function rowsFinding(config: OneboxConfig, look: TableLook | null): readonly Finding[] {
  const lost = findLost(config, look?.connections ?? []);
  return lost === null ? [] : [{ what: 'repositories', fix: lost.words }];
}

function keysFinding(fault: string | null, isOpenToOthers: boolean): Finding {
  const what = 'keys';
  if (fault !== null) return { what, fix: fault };
  return isOpenToOthers
    ? { what, fix: 'Others may read the keys: chmod 600 keys.json in the data folder.' }
    : { what };
}

/** The folder, or its nearest parent that exists, in which a start would make it. The check makes no folder. */
function nearestOf(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestOf(dirname(folder));
}

async function examineForge(
  config: OneboxConfig,
  send: HttpSend,
  now: () => number,
): Promise<readonly Finding[]> {
  const { public_url: publicUrl } = config;
  const base = config.forge.url.replace(/\/+$/, '');
  const version = await get(send, `${base}/api/v1/version`);
  if (version === null || version.status !== 200) {
    const fix = `${base} does not answer over TLS. Check the address, the network and forge.ca_file.`;
    return [{ what: 'forge', note: base, fix }];
  }
  const told = Date.parse(version.headers.date ?? '');
  const clock = { what: 'clock' };
  const discovery = await get(send, `${base}/.well-known/openid-configuration`);
  const isSecure = publicUrl.startsWith('https://') || isOfThisMachine(publicUrl);
  return [
    { what: `forge ${readVersion(version)}`, note: base },
    Number.isNaN(told) || Math.abs(told - now()) <= CLOCK_DIFFERENCE_MS_MAX
      ? clock
      : {
          ...clock,
          fix: `The forge's clock is ${Math.round((told - now()) / 1000)} s away: run NTP on both.`,
        },
    discovery?.status === 200
      ? { what: 'sign-in' }
      : { what: 'sign-in', fix: 'The forge is no OAuth2 provider: [oauth2] ENABLED = true in its app.ini.' },
    ...(discovery?.status === 200 ? [await examineApplication(config, send)] : []),
    isSecure
      ? { what: 'public_url' }
      : { what: 'public_url', fix: 'Sessions would travel in the clear: put a proxy with TLS in front.' },
  ];
}

/** Whether what is sent to this address stays on the machine that sends it. */
function isOfThisMachine(address: string): boolean {
  const hostname = parseUrl(address)?.hostname ?? '';
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

type AskMail = () => Promise<SmtpAnswer>;

/** A login at the mail server of the configuration; null where it names none. */
export function mailLoginOf({ mail }: OneboxConfig): AskMail | null {
  return mail === null ? null : () => createSmtp(mail).tryLogin();
}

/**
 * How long a successful login counts, in ms: servers lock accounts after some logins that fail, and each visitor of the
 * first page asks for one.
 */
const MAIL_GOOD_KEPT_MS = 10 * 60_000;
const MAIL_FAULT_KEPT_MS = 60_000;

/** Shares one login among all who ask: a success counts for ten minutes, any other answer for one. */
export function createMailCheck(parts: { readonly tryLogin: AskMail; readonly now: () => number }): AskMail {
  let kept: { until: number; readonly answer: Promise<SmtpAnswer> } | null = null;
  return () => {
    if (kept !== null && parts.now() < kept.until) return kept.answer;
    const since = parts.now();
    const asked = { until: since + MAIL_FAULT_KEPT_MS, answer: parts.tryLogin() };
    kept = asked;
    void asked.answer.then((answer) => {
      if (answer === 'sent') asked.until = since + MAIL_GOOD_KEPT_MS;
    });
    return asked.answer;
  };
}

/** The mail server, as far as the login; no mail is sent. */
async function examineMail({ mail }: OneboxConfig, ask: AskMail | null): Promise<Finding> {
  if (mail === null || ask === null) return { what: 'mail', note: 'not set up: no mail is sent' };
  const seen = { what: 'mail', note: `${mail.host}:${mail.port}, from ${mail.from}` };
  const answer = await ask();
  return answer === 'sent' ? seen : { ...seen, fix: MAIL_FIXES[answer] };
}

const SILENT_SERVER = 'The mail server does not answer. Check mail.host, mail.port and the network.';
const MAIL_FIXES: Readonly<Record<Exclude<SmtpAnswer, 'sent'>, string>> = {
  away: SILENT_SERVER,
  lost: SILENT_SERVER,
  untrusted:
    'The certificate of the mail server is not trusted here: it has ended, names another host, or is signed by an authority that is not known. Set mail.ca_file to the PEM of that authority, and mail.host to a name in the certificate.',
  refused: 'The mail server refuses this machine. Ask who runs it to let this machine send.',
  login_refused: 'The mail server refuses the login. Check mail.user and the file of mail.password_file.',
  no_tls:
    'The mail server offers no TLS at this port. Use its port with STARTTLS (587), or with TLS from the first byte (465, or mail.tls: implicit).',
};

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

/** Path of the page on which people make and change their OAuth2 applications, on Forgejo and Gitea. */
const APPLICATIONS_PATH = '/user/settings/applications';

/** The application on the forge: its id, its secret and its redirect URI, as the forge judges them without a person. */
async function examineApplication(config: OneboxConfig, send: HttpSend): Promise<Finding> {
  const redirectUri = redirectUriOf(config.public_url);
  const link = `${config.forge.url.replace(/\/+$/, '')}${APPLICATIONS_PATH}`;
  const forge = createForgeOAuth({
    forgeUrl: config.forge.url,
    clientId: config.sign_in.client_id,
    send,
    clientSecret: new Secret(config.clientSecret),
  });
  const fixes = {
    unknown_client: 'The forge knows no application with this client_id: make it there, and copy its id.',
    wrong_secret: 'The forge refuses the client secret: make a new one there, and store it in the file.',
    wrong_redirect: `The application has another redirect URI: it has to be ${redirectUri}`,
    unclear: 'The forge did not say whether it knows the application. Look at it there.',
  } as const;
  const answer = await forge.tryApplication(redirectUri);
  const seen = { what: 'OAuth2 application', note: `redirect URI ${redirectUri}` };
  return answer === 'accepted' ? seen : { ...seen, fix: fixes[answer], link };
}
