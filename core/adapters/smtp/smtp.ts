import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import nodemailer from 'nodemailer';
import { SMTP_TIMEOUT_MS } from '../../domain/api-limits.ts';
import type { Secret } from '../../secret.ts';
import { type Mail, unsubscribeHeaders } from '../email-chat/mail.ts';

/** Settings of the installation's mail server. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** Login at the server; null: it takes mail of this machine without one. */
  readonly login: { readonly user: string; readonly password: Secret<string> } | null;
  /** Sender, as a bare address. */
  readonly from: string;
  /**
   * `required`: STARTTLS, and no word but the greeting leaves before TLS stands. `implicit`: TLS from the first byte (RFC 8314).
   * `none`: TLS is not asked for.
   */
  readonly tls: 'required' | 'implicit' | 'none';
  /** PEM of the authority that signs the server's certificate, where no public one does. */
  readonly caPem: string | null;
}

/**
 * `away`: nothing was taken, and a later try may be. `untrusted`: the same, because of the server's certificate. `lost`: the connection broke after the message began to leave, so the
 * server may have it. `refused`: this mail is refused for good.
 */
export type SmtpAnswer = 'sent' | 'refused' | 'login_refused' | 'no_tls' | 'untrusted' | 'away' | 'lost';

export interface Smtp {
  /** Sends one mail, one try. Never throws, and ends within the time limit. */
  send(mail: Mail): Promise<SmtpAnswer>;
  /** Connects and logs in; sends nothing. `sent`: a mail would be taken that far. Never throws, and ends within the same limit. */
  tryLogin(): Promise<SmtpAnswer>;
}

/** @param limitMs time limit of one try in ms, from the look-up of the name to the last answer */
export function createSmtp(settings: SmtpSettings, limitMs: number = SMTP_TIMEOUT_MS): Smtp {
  const options = transportOf(settings, limitMs);
  return {
    async send(mail) {
      if (!isOneAddress(mail.to)) return 'refused';
      const body = readOnce(mail.text);
      try {
        await nodemailer.createTransport(options).sendMail({
          from: { name: '', address: settings.from },
          to: { name: '', address: mail.to },
          envelope: { from: settings.from, to: [mail.to] },
          subject: mail.subject,
          text: body.stream,
          // Without it absence notes come back to the sender (RFC 3834, 5.2).
          headers: { ...unsubscribeHeaders(mail), 'Auto-Submitted': 'auto-generated' },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.timeout(limitMs),
        });
        return 'sent';
      } catch (error) {
        return judge(error, body.hasBegun());
      }
    },
    async tryLogin() {
      // The library ends a login only by silence: a server that goes on talking would hold it for ever.
      const socket = new Socket();
      const limit = setTimeout(() => socket.destroy(), limitMs);
      try {
        await nodemailer.createTransport({ ...options, socket }).verify();
        return 'sent';
      } catch (error) {
        return judge(error, false);
      } finally {
        clearTimeout(limit);
      }
    },
  };
}

function transportOf({ host, port, login, tls, caPem }: SmtpSettings, limitMs: number) {
  return {
    host,
    port,
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password.reveal() } }),
    secure: tls === 'implicit',
    ...(tls === 'none' ? { ignoreTLS: true } : { requireTLS: true }),
    tls: { minVersion: 'TLSv1.2' as const, ...(caPem === null ? {} : { ca: [...rootCertificates, caPem] }) },
    connectionTimeout: limitMs,
    greetingTimeout: limitMs,
    socketTimeout: limitMs,
    dnsTimeout: limitMs,
    // A log of the conversation would hold addresses and the login.
    logger: false,
    debug: false,
  };
}

/** Whether a text is one mailbox and nothing else: no list, no second header, no source route. */
function isOneAddress(address: string): boolean {
  return /^[^\s\p{Cc}<>(),;:"\\@[\]]+@[^\s\p{Cc}<>(),;:"\\@[\]]+$/u.test(address);
}

/** A stream of the text that tells whether it was read, which begins after the login. */
function readOnce(text: string) {
  let begun = false;
  function* parts() {
    begun = true;
    yield Buffer.from(text, 'utf8');
  }
  return { stream: Readable.from(parts(), { objectMode: false }), hasBegun: () => begun };
}

interface Failure {
  /** Code of the library. */
  readonly code?: string;
  /** Code of the system or of TLS beneath it. */
  readonly originalCode?: string;
  readonly responseCode?: number;
}

/** Codes of X.509, and that of a certificate with other names. */
const CERTIFICATE_FAULT =
  /CERT|CRL|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$|^HOSTNAME_MISMATCH$|^PATH_LENGTH_EXCEEDED$/;

/** Kind of an error. The words of the server are dropped: they may name the login or a mailbox. */
function judge(error: unknown, hasBegun: boolean): Exclude<SmtpAnswer, 'sent'> {
  const { code, originalCode = '', responseCode = 0 } = (error ?? {}) as Failure;
  if (responseCode >= 400 && responseCode < 500) return 'away';
  if (code === 'EAUTH') return 'login_refused';
  if (code === 'ETLS' || originalCode === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'no_tls';
  if (CERTIFICATE_FAULT.test(originalCode)) return 'untrusted';
  if (responseCode >= 500 || code === 'EENVELOPE') return 'refused';
  return hasBegun ? 'lost' : 'away';
}
