import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { isNearHost } from '#core/adapters/http-guard/outbound-url.ts';
import type { ForgePerson } from '#core/adapters/identity-forge/forge-oauth.ts';
import type { SmtpSettings } from '#core/adapters/smtp/smtp.ts';
import { parseUrl } from '#core/domain/parse-url.ts';
import { Secret } from '#core/secret.ts';
import { PublicAddress } from '../lib/stage-values.ts';
import { parseYaml } from './config-text.ts';

const PORT_MAX = 65_535;
const text = z.string().min(1);
const People = z.strictObject({
  /** Logins on the forge. */
  users: z.array(text).default([]),
  organizations: z.array(text).default([]),
  /** Teams, each as `organization/team`. */
  teams: z.array(z.string().regex(/^[^/]+\/[^/]+$/, 'has to be organization/team')).default([]),
});

/** Address of the forge. The page and the redirects of the sign-in show it to every visitor. */
const ForgeAddress = z.string().superRefine((given, { addIssue }) => {
  const url = /[\s\\]/.test(given) ? null : parseUrl(given);
  const refuse = (message: string): void => addIssue({ code: 'custom', message });
  if (url === null) return refuse('has to be the address of the forge, such as https://git.example.org');
  if (!/^https:\/\/[^/]/i.test(given))
    return refuse(
      'has to begin with https://: tokens are sent there, and without TLS others could read them',
    );
  if (url.username !== '' || url.password !== '' || /[?#]/.test(given))
    refuse('has to be without a user, a password, a query and a fragment: every visitor can read it');
});

/** Host of the mail server. The first page shows it to every visitor. */
const MailHost = text.refine(
  (given) => isIP(given) !== 0 || !/[\s:@/?#\\]/.test(given),
  'has to be a name or an address of a host alone: port, user and password have keys of their own',
);

/** `mergeyard.yml`. Paths are relative to the file; unknown keys are refused, because a misspelt one would be ignored. */
const Config = z.strictObject({
  listen: z
    .string()
    .regex(/^(\[[\da-f:.]+\]|[^[\]]+):\d+$/i, { error: 'has to be address:port', abort: true })
    .refine((given) => Number(given.slice(given.lastIndexOf(':') + 1)) <= PORT_MAX, 'has a port beyond 65535')
    .default('127.0.0.1:8480'),
  /** Address at which people and the forge reach this service. */
  public_url: PublicAddress.refine((given) => new URL(given).pathname === '/', {
    error: 'has to be without a path: give the service a host name of its own',
    when: ({ issues }) => issues.length === 0,
  }),
  data_dir: text.default('mergeyard-data'),
  /** The service's name in branches and the default status context. */
  service_name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'has to be 1 to 20 of a-z, 0-9 and "-", and to begin with a letter')
    .default('mq'),
  forge: z.strictObject({
    url: ForgeAddress,
    /** Name of the forge for people. @default its host */
    name: text.optional(),
    /** File with the PEM of the authority that signs the forge's certificate, where no public authority does. */
    ca_file: text.optional(),
  }),
  sign_in: z.strictObject({
    client_id: text,
    client_secret_file: text.optional(),
    client_secret: text.optional(),
    /** People who may read. @default all who have an account on the forge */
    allow: People.optional(),
    /** People who may change anything. */
    administrators: People,
  }),
  /** A mail server for notices. @default no mail is sent */
  mail: z
    .strictObject({
      host: MailHost,
      port: z.int().min(1).max(PORT_MAX).default(587),
      user: text.optional(),
      password_file: text.optional(),
      from: z.email(),
      /** @default TLS from the first byte at port 465, and STARTTLS at every other */
      tls: z.enum(['required', 'implicit', 'none']).default('required'),
      /** Lets mails travel in the clear to a server beyond the private network, without a login. */
      allow_clear_text: z.boolean().default(false),
      /** File with the PEM of the authority that signs the mail server's certificate, where no public authority does. */
      ca_file: text.optional(),
    })
    .optional(),
  /** Tenants of the installation: one for each organization of the forge, or one alone. */
  tenants: z.enum(['installation', 'organizations']).default('installation'),
  /** Whether a proxy in front puts the caller's address into `X-Forwarded-For`; without one the header is ignored. */
  behind_proxy: z.boolean().default(false),
  /** Reconciles at once. */
  workers: z.int().min(1).max(64).default(4),
});

export type People = z.infer<typeof People>;

export interface OneboxConfig extends Omit<z.infer<typeof Config>, 'listen' | 'mail'> {
  readonly listen: { readonly host: string; readonly port: number };
  readonly clientSecret: string;
  readonly caPem: string | null;
  /** Mail server; null: no mail is sent. */
  readonly mail: SmtpSettings | null;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The message of an error, for a sentence that a person reads. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads the configuration file. Throws `ConfigError`, which names each wrong line. */
export function readConfig(file: string): OneboxConfig {
  const path = resolve(file);
  let raw: unknown;
  try {
    raw = parseYaml(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${reasonOf(error)}`);
  }
  const parsed = Config.safeParse(raw);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.') || '(file)'}: ${say(issue)}`);
    throw new ConfigError(`${file} is not right:\n${lines.join('\n')}`);
  }
  const beside = (name: string): string => resolve(dirname(path), name);
  const { sign_in: signIn, forge, listen } = parsed.data;
  const at = listen.lastIndexOf(':');
  return {
    ...parsed.data,
    data_dir: beside(parsed.data.data_dir),
    // One of IPv6 in brackets, as in an address of a page.
    listen: { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) },
    clientSecret: readSecret(signIn, beside),
    caPem: forge.ca_file === undefined ? null : readAuthority(beside(forge.ca_file), 'forge.ca_file'),
    mail: readMail(parsed.data.mail, beside),
  };
}

const NO_KEYS =
  'has to be text in UTF-8 with a key and its value on each line; onebox/mergeyard.example.yml shows them';

/**
 * Message of an issue. An unknown key is shown up to its colon: without a space behind that, YAML takes the value for a
 * part of the key, and the value may be a secret.
 */
function say(issue: z.core.$ZodIssue): string {
  if (issue.path.length === 0 && issue.code === 'invalid_type') return NO_KEYS;
  if (issue.code !== 'unrecognized_keys') return issue.message;
  const names = issue.keys.map((key) => {
    const [name = ''] = key.split(':');
    return name === key ? `"${key}"` : `"${name}:" without a space behind the colon`;
  });
  return `Unrecognized key${names.length === 1 ? '' : 's'}: ${names.join(', ')}`;
}

/** The port of mail over TLS from the first byte (RFC 8314). */
const TLS_PORT = 465;

function readMail(
  mail: z.infer<typeof Config>['mail'],
  beside: (name: string) => string,
): OneboxConfig['mail'] {
  if (mail === undefined) return null;
  const { host, port, from, tls, user, password_file: file, ca_file: ca, allow_clear_text: isOpen } = mail;
  if ((user === undefined) !== (file === undefined)) {
    throw new ConfigError('mail needs both of user and password_file, or none of them.');
  }
  if (user !== undefined && tls === 'none') {
    throw new ConfigError('mail.tls: without TLS the password would travel in the clear.');
  }
  if (tls === 'none' && !isOpen && !isNearHost(host)) {
    throw new ConfigError(
      `mail.tls: mails would travel in the clear to ${host}, which is not on this machine or in a private network. Leave mail.tls out, or say mail.allow_clear_text: true.`,
    );
  }
  if (tls !== 'none' && isOpen) {
    throw new ConfigError('mail.allow_clear_text: it has a meaning beside tls: none alone.');
  }
  return {
    host,
    port,
    from,
    tls: tls === 'required' && port === TLS_PORT ? 'implicit' : tls,
    login:
      user === undefined || file === undefined
        ? null
        : { user, password: new Secret(readSecretFile(beside(file), 'mail.password_file')) },
    caPem: ca === undefined ? null : readAuthority(beside(ca), 'mail.ca_file'),
  };
}

function readSecret(
  { client_secret: secret, client_secret_file: file }: OneboxConfig['sign_in'],
  beside: (name: string) => string,
): string {
  if ((secret === undefined) === (file === undefined)) {
    throw new ConfigError('sign_in needs one of client_secret and client_secret_file.');
  }
  return secret ?? readSecretFile(beside(file ?? ''), 'sign_in.client_secret_file');
}

/** The secret in a file. Throws `ConfigError` for an empty one, which would fail at the first sign-in or mail. */
function readSecretFile(path: string, key: string): string {
  const secret = readText(path, key).trim();
  if (secret === '') throw new ConfigError(`${key}: ${path} is empty: it has to hold the secret alone.`);
  return secret;
}

function readText(path: string, key: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(`${key}: ${path} cannot be read.`);
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads a file of certificates. Throws `ConfigError` for one without a certificate: it would be accepted, and each call
 * would fail like one to a server that is away.
 */
function readAuthority(path: string, key: string): string {
  const pem = readText(path, key);
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0 || !blocks.every(isCertificate))
    throw new ConfigError(
      `${key}: ${path} is no certificate, or a damaged one. It has to be the PEM of the authority, which begins with -----BEGIN CERTIFICATE-----.`,
    );
  return pem;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).serialNumber !== '';
  } catch {
    return false;
  }
}

/** Whether a person is one of these people. Names are compared as the forge compares them, without case. */
export function isAmong({ users, organizations, teams }: People, { login, groups }: ForgePerson): boolean {
  const has = (names: readonly string[], name: string): boolean =>
    names.some((each) => each.toLowerCase() === name.toLowerCase());
  if (has(users, login)) return true;
  return groups.some((group) => has(organizations, group) || has(teams, group.replace(':', '/')));
}
