import { createHash, randomBytes } from 'node:crypto';

/** A sign-in as far as the page sees it: the address that it is opened at, and the verifier that it kept. */
export interface CameBack {
  readonly back: URL;
  readonly verifier: string;
}

/** A browser, and the calls of the page, at one installation beside the fake forge. */
export function openOneboxClient(place: {
  readonly url: () => string;
  readonly forgeHttpUrl: string;
  readonly publicUrl: string;
}) {
  const client = {
    /** As a browser goes from the page to the forge and back. */
    async signIn(login: string): Promise<CameBack & { readonly asked: URL }> {
      const verifier = randomBytes(32).toString('base64url');
      const query = new URLSearchParams({
        provider: 'forge',
        redirect_to: `${place.publicUrl}/sign-in/callback`,
        code_challenge_method: 's256',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      });
      const left = await fetch(`${place.url()}/auth/v1/authorize?${query}`, { redirect: 'manual' });
      const asked = new URL(left.headers.get('location') ?? '');
      // The same page without a certificate.
      const page = `${place.forgeHttpUrl}${asked.pathname}${asked.search}&login=${login}`;
      const granted = await fetch(page, { redirect: 'manual' });
      const callback = new URL(granted.headers.get('location') ?? '');
      const done = await fetch(`${place.url()}${callback.pathname}${callback.search}`, {
        redirect: 'manual',
      });
      return { asked, back: new URL(done.headers.get('location') ?? ''), verifier };
    },
    /** The session that the page gets for the code in its address. */
    redeem({ back, verifier }: CameBack): Promise<Response> {
      return fetch(`${place.url()}/auth/v1/token?grant_type=pkce`, {
        method: 'POST',
        body: JSON.stringify({ auth_code: back.searchParams.get('code'), code_verifier: verifier }),
        headers: { 'content-type': 'application/json' },
      });
    },
    async tokenOf(login: string): Promise<string> {
      const answer = await client.redeem(await client.signIn(login));
      return ((await answer.json()) as { access_token: string }).access_token;
    },
    async call(token: string, method: string, path: string, body?: unknown) {
      const answer = await fetch(`${place.url()}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, json: text === '' ? null : JSON.parse(text) };
    },
    /** Connects the forge and enrolls one repository; returns the session's token. */
    async enroll(login: string, connection: object, slug: string): Promise<string> {
      const token = await client.tokenOf(login);
      const connected = await client.call(token, 'POST', '/api/v1/connections', connection);
      const enrolled = await client.call(token, 'POST', '/api/v1/user/repos', {
        connection_id: connected.json.id,
        repo_slug: slug,
        base_branch: 'main',
        queue_enabled: true,
      });
      if (enrolled.status !== 201) throw new Error(`not enrolled: ${JSON.stringify(enrolled)}`);
      return token;
    },
  };
  return client;
}
