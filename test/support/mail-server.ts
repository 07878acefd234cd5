import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { makeSelfSigned } from './self-signed.ts';

export const MAIL_LOGIN = { user: 'mergeyard', password: 'a-password-of-its-own' };

export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text as they came. */
  readonly raw: string;
  readonly wasSecure: boolean;
}

/** A real SMTP server on loopback, with STARTTLS and a login, and what it took. */
export async function startMailServer(options: SMTPServerOptions = {}, port = 0) {
  const { key, cert } = makeSelfSigned(['localhost', '127.0.0.1']);
  const taken: TakenMail[] = [];
  const server = new SMTPServer({
    key,
    cert,
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth({ username, password }, _session, done) {
      const isRight = username === MAIL_LOGIN.user && password === MAIL_LOGIN.password;
      if (isRight) done(null, { user: username });
      else done(new Error(`no such login ${username} ${password}`));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        taken.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          wasSecure: session.secure,
        });
        done();
      });
    },
    ...options,
  });
  // A client that hangs up is part of some tests.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    caPem: cert,
    taken,
    /** Hangs up on every client. */
    cutAll: () => {
      for (const client of server.connections) client.close();
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
