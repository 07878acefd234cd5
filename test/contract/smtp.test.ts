import { type AddressInfo, createServer } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { createNotifier } from '#core/adapters/email-chat/notifier.ts';
import { createMailLine, type MailLineParts } from '#core/adapters/smtp/mail-line.ts';
import { createSmtp, type Smtp, type SmtpSettings } from '#core/adapters/smtp/smtp.ts';
import { Secret } from '#core/secret.ts';
import { eventually } from '../support/eventually.ts';
import { MAIL_LOGIN, startMailServer } from '../support/mail-server.ts';
import { makeSelfSigned } from '../support/self-signed.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function givenServer(options: SMTPServerOptions = {}, port?: number) {
  const server = await startMailServer(options, port);
  closers.push(server.close);
  return server;
}

interface Where {
  readonly port: number;
  readonly caPem: string;
}

function settingsOf({ port, caPem }: Where, changes: Partial<SmtpSettings> = {}): SmtpSettings {
  const login = { user: MAIL_LOGIN.user, password: new Secret(MAIL_LOGIN.password) };
  return { host: '127.0.0.1', port, caPem, login, from: 'mq@example.org', tls: 'required', ...changes };
}

const MAIL = {
  to: 'ada@example.org',
  subject: '#7 was bounced',
  text: 'The gate fails with this pull request.\n',
  unsubscribeUrl: 'https://mergeyard.example.org/unsubscribe?key=k',
};

function givenLine(settings: SmtpSettings, parts: Partial<MailLineParts> = {}) {
  const lines: string[] = [];
  const write = (message: string, fields: object = {}) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const counted: string[] = [];
  const line = createMailLine({
    smtp: createSmtp(settings),
    log: { info: write, warn: write, error: write },
    count: (answer: string) => void counted.push(answer),
    ...parts,
  });
  closers.push(() => line.stop());
  return { line, lines, counted };
}

/** Greets, and then answers without an end. */
async function givenTalker(): Promise<Where> {
  const talks = new Set<NodeJS.Timeout>();
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.write('220 mail.example.org ESMTP\r\n');
    client.once('data', () => {
      const talk = setInterval(() => client.write('250-and one more\r\n'), 20);
      talks.add(talk);
      client.once('close', () => clearInterval(talk));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const talk of talks) clearInterval(talk);
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, caPem: '' };
}

describe('mails over SMTP', () => {
  test.each([
    ['send', (smtp: Smtp) => smtp.send(MAIL)],
    ['tryLogin', (smtp: Smtp) => smtp.tryLogin()],
  ])(
    'a server that goes on talking holds up %s no longer than the limit',
    async (_name, run) => {
      const talker = await givenTalker();
      expect(await run(createSmtp(settingsOf(talker, { caPem: null }), 300))).toBe('away');
    },
    10_000,
  );

  test('a try has fifteen seconds (A83)', async () => {
    const server = await givenServer();
    const limit = jest.spyOn(AbortSignal, 'timeout');
    expect(await createSmtp(settingsOf(server)).send(MAIL)).toBe('sent');
    expect(limit.mock.calls).toEqual([[15_000]]);
    limit.mockRestore();
  });

  test('go out over STARTTLS with a login, with the link that ends them', async () => {
    const server = await givenServer();
    expect(await createSmtp(settingsOf(server)).send(MAIL)).toBe('sent');
    expect(server.taken).toEqual([
      {
        from: 'mq@example.org',
        to: ['ada@example.org'],
        wasSecure: true,
        raw: expect.stringContaining('The gate fails with this pull request.'),
      },
    ]);
    const raw = server.taken[0]?.raw ?? '';
    expect(raw).toMatch(/^Subject: #7 was bounced\r$/m);
    expect(raw).toMatch(/^List-Unsubscribe:\s+<https:\/\/mergeyard\.example\.org\/unsubscribe\?key=k>\r$/m);
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(raw).not.toContain('X-Mailer');
  });

  test('a notice of the service takes this way', async () => {
    const server = await givenServer();
    const { line } = givenLine(settingsOf(server));
    const notifier = createNotifier({
      email: { way: 'smtp', sendMail: line.send },
      send: () => Promise.reject(new Error('no call is made')),
    });
    const notice = { subject: 'One\r\nBcc: eve@example.org', lines: ['A line.'], links: [] };
    expect(await notifier.sendEmail('ada@example.org', notice, MAIL.unsubscribeUrl)).toBe('sent');
    expect(server.taken[0]?.to).toEqual(['ada@example.org']);
    expect(server.taken[0]?.raw).not.toMatch(/^Bcc:/m);
  });

  test.each([
    'ada@example.org\r\nBcc: eve@example.org',
    'ada@example.org, eve@example.org',
    'Ada <eve@example.org>',
    'ada@example.org> SIZE=1\r\nRCPT TO:<eve@example.org',
    'friends: ada@example.org;',
  ])('an address that is more than one mailbox is refused before a word is sent: %j', async (to) => {
    const server = await givenServer();
    expect(await createSmtp(settingsOf(server)).send({ ...MAIL, to })).toBe('refused');
    expect(server.taken).toEqual([]);
  });

  test('a line break in the subject begins no header', async () => {
    const server = await givenServer();
    const subject = 'One\r\nBcc: eve@example.org\r\n\r\ntext';
    expect(await createSmtp(settingsOf(server)).send({ ...MAIL, subject })).toBe('sent');
    expect(server.taken[0]?.to).toEqual(['ada@example.org']);
    expect(server.taken[0]?.raw).not.toMatch(/^Bcc:/m);
  });

  test('a refused login is not tried again, and neither the password nor the words of the server are told', async () => {
    const server = await givenServer();
    const login = { user: MAIL_LOGIN.user, password: new Secret('an-old-password') };
    const settings = settingsOf(server, { login });
    const { line, lines, counted } = givenLine(settings, { waitsMs: [1] });
    expect(await line.send(MAIL)).toBe('refused');
    expect([counted, line.size]).toEqual([['login_refused'], 0]);
    expect(lines).toEqual(['the mail server took no mail {"reason":"login_refused"}']);
    expect(await createSmtp(settings).tryLogin()).toBe('login_refused');
    expect(JSON.stringify(settings)).not.toContain('an-old-password');
  });

  test('a server without TLS gets neither the login nor the mail', async () => {
    let logins = 0;
    const server = await givenServer({
      hideSTARTTLS: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth(_login, _session, done) {
        logins += 1;
        done(null, { user: 'mergeyard' });
      },
    });
    expect(await createSmtp(settingsOf(server)).send(MAIL)).toBe('no_tls');
    expect([server.taken, logins]).toEqual([[], 0]);
  });

  test.each([
    ['after STARTTLS', 'required', {}],
    ['from the first byte', 'implicit', { secure: true }],
  ] as const)(
    'a certificate that is not trusted here is told as what it is, and its server gets nothing (%s)',
    async (_when, tls, options) => {
      const server = await givenServer({ ...options });
      const strange = createSmtp(settingsOf(server, { tls, caPem: null }));
      expect([await strange.tryLogin(), await strange.send(MAIL)]).toEqual(['untrusted', 'untrusted']);
      const other = makeSelfSigned(['other.example.org']);
      const misnamed = await givenServer({ ...options, ...other });
      const named = createSmtp(settingsOf(misnamed, { tls, caPem: other.cert }));
      expect(await named.tryLogin()).toBe('untrusted');
      expect([server.taken, misnamed.taken]).toEqual([[], []]);
    },
  );

  test('go out over TLS from the first byte, with a login', async () => {
    const server = await givenServer({ secure: true });
    const smtp = createSmtp(settingsOf(server, { tls: 'implicit' }));
    expect([await smtp.tryLogin(), await smtp.send(MAIL)]).toEqual(['sent', 'sent']);
    expect(server.taken).toMatchObject([{ to: ['ada@example.org'], wasSecure: true }]);
    const wrong = settingsOf(server, {
      tls: 'implicit',
      login: { user: MAIL_LOGIN.user, password: new Secret('an-old-password') },
    });
    expect(await createSmtp(wrong).tryLogin()).toBe('login_refused');
  });

  test('a port with STARTTLS that is taken for one with TLS from the first byte is told', async () => {
    const server = await givenServer();
    expect(await createSmtp(settingsOf(server, { tls: 'implicit' })).tryLogin()).toBe('no_tls');
  });

  test('a certificate that is not trusted yet is tried again later', async () => {
    const server = await givenServer();
    const { line, counted } = givenLine(settingsOf(server, { caPem: null }));
    expect([await line.send(MAIL), counted, line.size]).toEqual(['later', ['untrusted'], 1]);
  });

  test('where TLS is switched off, a server of this machine takes mail without a login', async () => {
    const server = await givenServer({ authOptional: true });
    expect(await createSmtp(settingsOf(server, { tls: 'none', login: null })).send(MAIL)).toBe('sent');
    expect(server.taken[0]?.wasSecure).toBe(false);
  });

  test('a server that is away is asked again, and the mail arrives once when it is back', async () => {
    const before = await startMailServer();
    await before.close();
    const where = { port: before.port, caPem: before.caPem };
    const { line, lines, counted } = givenLine(settingsOf(where, { tls: 'none', login: null }), {
      waitsMs: [50, 50, 50, 50, 50, 50, 50, 50],
    });
    expect(await line.send(MAIL)).toBe('later');
    expect(line.size).toBe(1);
    const back = await givenServer({ authOptional: true }, before.port);
    await eventually('the later try', 5_000, async () =>
      lines.join().includes('an e-mail was sent at a later try'),
    );
    expect(back.taken).toHaveLength(1);
    expect([counted[0], counted.at(-1), line.size]).toEqual(['away', 'sent', 0]);
  });

  test('a server that stays away is told in the log when the last try is over', async () => {
    const { port, caPem, close } = await startMailServer();
    await close();
    const { line, lines } = givenLine(settingsOf({ port, caPem }), { waitsMs: [1, 1] });
    expect(await line.send(MAIL)).toBe('later');
    await eventually('the last try', 5_000, async () => lines.length > 0);
    expect(lines).toEqual([
      expect.stringMatching(/^a notification was not delivered .*"reason":"away","tries":3/),
    ]);
    expect(lines.join()).not.toContain('ada@');
  });

  test.each([
    [450, 'later'],
    [550, 'refused'],
  ] as const)('a mailbox that the server answers with %d: %s', async (responseCode, expected) => {
    const server = await givenServer({
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode })),
    });
    expect(await givenLine(settingsOf(server)).line.send(MAIL)).toBe(expected);
  });

  test('a connection that breaks after the message began to leave is not tried again: the server may have the mail', async () => {
    const server = await givenServer({
      onData: (stream) => void stream.resume().on('end', () => server.cutAll()),
    });
    const { line, counted } = givenLine(settingsOf(server), { waitsMs: [1] });
    expect(await line.send(MAIL)).toBe('failed');
    expect([counted, line.size]).toEqual([['lost'], 0]);
  });

  test('what waits is given up when the process ends, and counted in the log', async () => {
    const { port, caPem, close } = await startMailServer();
    await close();
    const { line, lines } = givenLine(settingsOf({ port, caPem }));
    expect(await line.send(MAIL)).toBe('later');
    line.stop();
    expect(lines).toEqual(['mails that waited for another try were given up {"mails":1}']);
  });
});
