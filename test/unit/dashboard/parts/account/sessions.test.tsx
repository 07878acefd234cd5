/** @jest-environment jsdom */
import { webcrypto } from 'node:crypto';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { CognitoSignIn } from '../../../../../core/contracts/internal/dashboard.ts';
import { session, setSession } from '../../../../../dashboard/data/session.ts';
import { type MountOptions, mountPage } from '../../../../support/mount-page.tsx';

const ID = 'https://id.example.org/auth/v1';
const PAGES = 'https://mq.auth.eu-west-1.amazoncognito.com';
const ENDPOINT = 'https://cognito-idp.eu-west-1.amazonaws.com';
const COGNITO: CognitoSignIn = { kind: 'cognito', domain: PAGES, client_id: 'client', endpoint: ENDPOINT };
const SESSION = {
  access_token: 'a.b.c',
  refresh_token: 'r',
  expires_in: 3600,
  user: { email: 'ada@example.org' },
};
const ME = {
  'GET /api/v1/me': { id: 'tenant', is_admin: false },
  'GET /api/v1/tokens': [],
  'GET /api/v1/author-notices': { signed_in_as: null, logins: [] },
};

beforeAll(() => {
  // The document of the tests has none of them.
  Object.defineProperty(crypto, 'subtle', { value: webcrypto.subtle, configurable: true });
  const { TextDecoder, TextEncoder } = require('node:util');
  Object.assign(globalThis, { TextDecoder, TextEncoder });
});
beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

describe('a mailed link', () => {
  const askForLink = async (config: NonNullable<MountOptions['config']> = {}) => {
    const page = mountPage({
      at: '/sign-in?back=%2Fbilling',
      session: null,
      config,
      answers: { [`POST ${ID}/otp`]: {} },
    });
    fireEvent.change(await screen.findByLabelText('E-mail'), { target: { value: 'ada@example.org' } });
    fireEvent.click(screen.getByRole('button', { name: 'Mail me a link instead' }));
    await screen.findByText(/a link is on its way/);
    return page.sent.find(({ address }) => address.includes('/otp'))?.body as Record<string, unknown>;
  };
  test('that the provider does not send is told as that, and as no wrong password', async () => {
    mountPage({ at: '/sign-in', session: null, answers: { [`POST ${ID}/otp`]: 404 } });
    fireEvent.change(await screen.findByLabelText('E-mail'), { target: { value: 'ada@example.org' } });
    fireEvent.click(screen.getByRole('button', { name: 'Mail me a link instead' }));
    expect((await screen.findByRole('alert')).textContent).toMatch(/^No link was sent/);
    expect(screen.queryByText(/a link is on its way/)).toBeNull();
  });

  const comeBack = (at: string) => {
    // A tab of its own: what only the first tab knew is not here.
    sessionStorage.clear();
    return mountPage({ at, session: null, answers: { [`POST ${ID}/token?grant_type=pkce`]: SESSION } });
  };

  test('brings a code that counts only with what this browser kept, once', async () => {
    const asked = await askForLink();
    expect(asked).toMatchObject({ code_challenge_method: 's256', create_user: false });
    const { sent } = comeBack('/sign-in/callback?code=one');
    await waitFor(() => expect(location.pathname).toBe('/billing'));
    const exchange = sent.find(({ address }) => address.includes('grant_type=pkce'))?.body;
    const { auth_code: code, code_verifier: verifier } = exchange as Record<string, string>;
    const digest = await webcrypto.subtle.digest('SHA-256', Buffer.from(verifier ?? ''));
    expect([code, Buffer.from(digest).toString('base64url')]).toEqual(['one', asked.code_challenge]);
    comeBack('/sign-in/callback?code=one');
    expect((await screen.findByRole('alert')).textContent).toMatch(/not started in this browser/);
  });

  test.each([
    [
      'a token of another user in the address',
      '/sign-in/callback#access_token=foreign.b.c&refresh_token=x&expires_in=3600',
    ],
    ['a code that this browser did not ask for', '/sign-in/callback?code=foreign'],
  ])('%s signs no user in', async (_what, at) => {
    const { sent } = comeBack(at);
    expect((await screen.findByRole('alert')).textContent).toMatch(/not started in this browser/);
    expect(session.read()).toBeNull();
    expect(sent.filter(({ address }) => address.includes('/token'))).toEqual([]);
    expect(location.href).not.toContain('foreign');
  });

  test('makes an account only where sign-up is open', async () => {
    expect((await askForLink({ sign_up: 'open' })).create_user).toBe(true);
    expect(screen.queryByText(/by invitation/)).toBeNull();
    expect((await askForLink({ sign_up: 'closed' })).create_user).toBe(false);
    expect(screen.getByText(/by invitation/)).toBeTruthy();
  });
});

describe('signing out', () => {
  test.each<[string, NonNullable<MountOptions['config']>, string, unknown]>([
    ['GoTrue', {}, `POST ${ID}/logout?scope=local`, undefined],
    [
      'Cognito',
      { sign_in: COGNITO },
      `POST ${PAGES}/oauth2/revoke`,
      { client_id: 'client', token: 'refresh' },
    ],
  ])(
    'ends the session at %s, so that its refresh token is worth nothing',
    async (_name, config, address, body) => {
      const { sent } = mountPage({ at: '/account', answers: { ...ME, [address]: 200 }, config });
      fireEvent.click(await screen.findByRole('button', { name: 'Sign out' }));
      await waitFor(() => expect(sent).toContainEqual({ address, body }));
      expect(session.read()).toBeNull();
    },
  );

  const everywhere = async (
    config: NonNullable<MountOptions['config']>,
    answers: NonNullable<MountOptions['answers']>,
  ) => {
    const page = mountPage({ at: '/account', answers: { ...ME, ...answers }, config });
    fireEvent.click(await screen.findByRole('button', { name: 'Sign out everywhere' }));
    return page;
  };

  test.each<[string, NonNullable<MountOptions['config']>, string, unknown]>([
    ['GoTrue', {}, `POST ${ID}/logout?scope=global`, undefined],
    ['Cognito', { sign_in: COGNITO }, `POST ${ENDPOINT}/`, { AccessToken: 'token' }],
  ])('everywhere ends every session at %s, and then this one', async (_name, config, address, body) => {
    const { sent } = await everywhere(config, { [address]: 200 });
    await waitFor(() => expect(session.read()).toBeNull());
    expect(sent).toContainEqual({ address, body });
  });

  test('are listed with their beginning and network; those beside this one are ended where the provider can', async () => {
    const sessions = [
      { id: 'one', started_at: '2026-11-22T10:00:00.000Z', from: '198.51.100.7', current: true },
      { id: 'two', started_at: '2026-11-21T10:00:00.000Z', from: null, current: false },
    ];
    const others = `POST ${ID}/logout?scope=others`;
    const answers = { ...ME, 'GET /api/v1/sessions': { sessions }, [others]: 200 };
    const { sent } = mountPage({ at: '/account', answers });
    const panel = within(await screen.findByRole('region', { name: 'Sessions' }));
    const rows = await panel.findAllByRole('listitem');
    expect(rows.map((row) => row.textContent)).toEqual([
      expect.stringMatching(/2026.*198\.51\.100\.7.*this session/),
      expect.not.stringMatching(/this session/),
    ]);
    fireEvent.click(panel.getByRole('button', { name: 'Sign out the others' }));
    await panel.findByText('The other sessions are ended.');
    expect(sent.map(({ address }) => address)).toContain(others);
    expect(session.read()).not.toBeNull();
    mountPage({ at: '/account', answers: { ...ME }, config: { sign_in: COGNITO } });
    await screen.findByRole('region', { name: 'Sessions' });
    expect(screen.queryByRole('button', { name: 'Sign out the others' })).toBeNull();
  });

  test('elsewhere renews the session of a tab that slept first: a token that has run out ends no other', async () => {
    const [others, renewal] = [`POST ${ID}/logout?scope=others`, `POST ${ID}/token?grant_type=refresh_token`];
    const { sent } = mountPage({ at: '/account', answers: { ...ME, [others]: 200, [renewal]: SESSION } });
    const panel = within(await screen.findByRole('region', { name: 'Sessions' }));
    const current = session.read();
    if (current === null) throw new Error('no session');
    setSession({ ...current, refreshToken: 'r', expiresAt: Date.now() - 1 });
    const before = sent.length;
    fireEvent.click(panel.getByRole('button', { name: 'Sign out the others' }));
    await panel.findByText('The other sessions are ended.');
    const asked = sent.slice(before).map(({ address }) => address);
    expect(asked.filter((address) => address.includes(ID))).toEqual([renewal, others]);
    expect(session.read()?.token).toBe(SESSION.access_token);
  });

  test.each([
    [503, /did not answer/],
    [401, /^The identity provider refused that\. Sign in again/],
  ])('everywhere that the provider answers with %i leaves the session and says so', async (status, words) => {
    await everywhere({}, { [`POST ${ID}/logout?scope=global`]: status });
    expect((await screen.findByRole('alert')).textContent).toMatch(words);
    expect(session.read()).not.toBeNull();
  });
});

describe('the second factor', () => {
  const KEY = 'ABCDEFGHIJKLMNOP';
  const open = async (answers: Readonly<Record<string, unknown>>) => {
    const page = mountPage({
      at: '/account',
      config: { sign_in: COGNITO },
      answers: { ...ME, [`POST ${ENDPOINT}/`]: answers },
    });
    return { ...page, panel: within(await screen.findByRole('region', { name: 'Second factor' })) };
  };

  test('a passkey is made on the page of the provider', async () => {
    const { panel } = await open({});
    const link = new URL(panel.getByRole('link', { name: /Add a passkey/ }).getAttribute('href') ?? '');
    expect(link.origin + link.pathname).toBe(`${PAGES}/passkeys/add`);
    expect(link.searchParams.get('client_id')).toBe('client');
    expect(link.searchParams.get('redirect_uri')).toBe(`${location.origin}/sign-in/callback`);
  });

  test('is on only after a code of the app was right', async () => {
    const { panel, sent } = await open({ SecretCode: KEY, Status: 'SUCCESS' });
    fireEvent.click(panel.getByRole('button', { name: 'Set it up' }));
    expect(await panel.findByText(KEY)).toBeTruthy();
    fireEvent.change(panel.getByLabelText('Code that the app shows now'), { target: { value: '123456' } });
    fireEvent.click(panel.getByRole('button', { name: 'Switch it on' }));
    expect(await panel.findByText(/all sessions of this account are ended/)).toBeTruthy();
    expect(
      sent.filter(({ address }) => address.startsWith(`POST ${ENDPOINT}`)).map(({ body }) => body),
    ).toEqual([
      { AccessToken: 'token' },
      { AccessToken: 'token', UserCode: '123456' },
      { AccessToken: 'token', SoftwareTokenMfaSettings: { Enabled: true, PreferredMfa: true } },
      // A session that began without it, this one among them, is worth nothing to a thief of the password.
      { AccessToken: 'token' },
    ]);
    fireEvent.click(panel.getByRole('button', { name: 'Sign in again' }));
    await waitFor(() => expect(session.read()).toBeNull());
  });

  test('stays off with a code that is not right', async () => {
    const { panel, sent } = await open({ SecretCode: KEY, Status: 'ERROR' });
    fireEvent.click(panel.getByRole('button', { name: 'Set it up' }));
    fireEvent.change(await panel.findByLabelText('Code that the app shows now'), {
      target: { value: '000000' },
    });
    fireEvent.click(panel.getByRole('button', { name: 'Switch it on' }));
    expect((await panel.findByRole('alert')).textContent).toMatch(/not right/);
    expect(JSON.stringify(sent)).not.toContain('SoftwareTokenMfaSettings');
    expect(panel.queryByText(/It is on/)).toBeNull();
  });

  test('of an account that has one is said to be on', async () => {
    const { panel } = await open({ UserMFASettingList: ['SOFTWARE_TOKEN_MFA'] });
    fireEvent.click(panel.getByRole('button', { name: 'Check whether it is on' }));
    expect(await panel.findByText(/It is on/)).toBeTruthy();
  });
});

describe('the level of a session, with a provider that has levels', () => {
  const FACTOR = '9d3f2b8a-5d4e-4f60-8a7b-9c0d1e2f3a4b';
  const tokenOf = (aal: string) => `h.${Buffer.from(JSON.stringify({ aal })).toString('base64url')}.s`;
  const open = (aal: string, answers: Readonly<Record<string, unknown>> = {}) =>
    mountPage({
      at: '/account',
      session: {
        token: tokenOf(aal),
        refreshToken: 'r',
        expiresAt: Date.now() + 3_600_000,
        email: 'ada@example.org',
        isAdmin: true,
      },
      answers: {
        ...ME,
        [`POST ${ID}/factors/${FACTOR}/challenge`]: { id: 'challenge' },
        [`POST ${ID}/factors/${FACTOR}/verify`]: { ...SESSION, access_token: tokenOf('aal2') },
        ...answers,
      },
    });
  const panelOf = async () => within(await screen.findByRole('region', { name: 'Second factor' }));
  const showCode = async (panel: Awaited<ReturnType<typeof panelOf>>) => {
    fireEvent.change(await panel.findByLabelText('Code that the app shows now'), {
      target: { value: '123456' },
    });
    fireEvent.click(panel.getByRole('button', { name: 'Show it' }));
    expect(await panel.findByText(/This session has shown one/)).toBeTruthy();
    expect(session.read()?.token).toBe(tokenOf('aal2'));
  };

  test('is raised by a code of the app that the account has', async () => {
    const factors = [
      { id: 'x', status: 'unverified', factor_type: 'totp' },
      { id: 'y', status: 'verified', factor_type: 'phone' },
      { id: FACTOR, status: 'verified', factor_type: 'totp' },
    ];
    const { sent } = open('aal1', { [`GET ${ID}/user`]: { factors } });
    const panel = await panelOf();
    fireEvent.click(panel.getByRole('button', { name: 'Use an app' }));
    await showCode(panel);
    expect(sent.find(({ address }) => address.endsWith('/verify'))?.body).toEqual({
      challenge_id: 'challenge',
      code: '123456',
    });
    expect(sent.some(({ address }) => address === `POST ${ID}/factors`)).toBe(false);
  });

  test('is raised by an app that is set up for it', async () => {
    open('aal1', {
      [`GET ${ID}/user`]: {},
      [`POST ${ID}/factors`]: { id: FACTOR, totp: { secret: 'ABCDEFGH' } },
    });
    const panel = await panelOf();
    fireEvent.click(panel.getByRole('button', { name: 'Use an app' }));
    expect(await panel.findByText('ABCDEFGH')).toBeTruthy();
    await showCode(panel);
  });

  test('stays with a code that is not right', async () => {
    open('aal1', {
      [`GET ${ID}/user`]: { factors: [{ id: FACTOR, status: 'verified', factor_type: 'totp' }] },
      [`POST ${ID}/factors/${FACTOR}/verify`]: 422,
    });
    const panel = await panelOf();
    fireEvent.click(panel.getByRole('button', { name: 'Use an app' }));
    fireEvent.change(await panel.findByLabelText('Code that the app shows now'), {
      target: { value: '000000' },
    });
    fireEvent.click(panel.getByRole('button', { name: 'Show it' }));
    expect((await panel.findByRole('alert')).textContent).toMatch(/not right/);
    expect(session.read()?.token).toBe(tokenOf('aal1'));
  });

  test('is not spoken of where the provider has none', async () => {
    mountPage({ at: '/account', answers: ME });
    await screen.findByRole('region', { name: 'Sessions' });
    expect(screen.queryByRole('region', { name: 'Second factor' })).toBeNull();
  });
});
