import { readFileSync } from 'node:fs';
import { PINNED_DOCKERFILES, pinDockerfile, readDigest } from '../../../bin/pin-images/pin.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const IMAGE = 'public.ecr.aws/docker/library/node:24-slim';

function registry(token: unknown, digest: string | null) {
  const asked: { readonly url: string; readonly headers: Record<string, string> }[] = [];
  const send = async (url: string, init: RequestInit = {}) => {
    asked.push({ url, headers: { ...(init.headers as Record<string, string>) } });
    const headers = new Headers(digest === null ? {} : { 'docker-content-digest': digest });
    return { ok: true, headers, json: async () => ({ token }) };
  };
  return { asked, send: send as unknown as typeof fetch };
}

describe('npm run pin:images', () => {
  test.each(PINNED_DOCKERFILES)(
    'names each base of %s by tag and digest, and changes nothing else',
    async (path) => {
      const text = readFileSync(path, 'utf8');
      const bases = text.match(/^FROM .*$/gm) ?? [];
      const pinned = await pinDockerfile(text, async () => DIGEST);
      const after = pinned.match(/^FROM .*$/gm) ?? [];
      expect(after).toHaveLength(bases.length);
      for (const line of after) expect(line).toMatch(new RegExp(`^FROM ${IMAGE}@${DIGEST}( AS \\w+)?$`));
      expect(pinned.replaceAll(`@${DIGEST}`, '')).toBe(text.replace(/@sha256:[0-9a-f]{64}/g, ''));
      const again = await pinDockerfile(pinned, async () => OTHER);
      expect(again).toBe(pinned.replaceAll(DIGEST, OTHER));
    },
  );

  test('asks the registry for the digest of all platforms', async () => {
    const { asked, send } = registry('pass', DIGEST);
    expect(await readDigest(IMAGE, send)).toBe(DIGEST);
    expect(asked.map(({ url }) => url)).toEqual([
      'https://public.ecr.aws/token/?service=public.ecr.aws&scope=repository:docker/library/node:pull',
      'https://public.ecr.aws/v2/docker/library/node/manifests/24-slim',
    ]);
    expect(asked[1]?.headers).toMatchObject({ authorization: 'Bearer pass' });
    expect(asked[1]?.headers.accept).toContain('image.index');
  });

  test.each([
    [
      'an image of another registry',
      'docker.io/library/node:24',
      'pass',
      DIGEST,
      /only images of public\.ecr\.aws/,
    ],
    ['no token', IMAGE, null, DIGEST, /gave no token/],
    ['no digest', IMAGE, 'pass', null, /gave no digest/],
    ['a text that is no digest', IMAGE, 'pass', 'sha256:short', /gave no digest/],
  ])('%s is an error in words', async (_what, image, token, digest, words) => {
    await expect(readDigest(image, registry(token, digest).send)).rejects.toThrow(words);
  });
});
