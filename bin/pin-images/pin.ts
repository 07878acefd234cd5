export const PINNED_DOCKERFILES = ['engine-container/Dockerfile', 'onebox/Dockerfile'] as const;

/** Base images come from one registry, which asks for no account. */
const REGISTRY = 'public.ecr.aws';
const FROM = /^(FROM )([^\s@]+:[\w.-]+)(@sha256:[0-9a-f]{64})?( AS \w+)?$/gm;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Of all platforms: the engine is ARM64, and a box may be either. */
const ACCEPT =
  'application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json';

/** The same text with each base named by tag and digest; the tag stays, so that the next run finds it. */
export async function pinDockerfile(
  text: string,
  digestOf: (image: string) => Promise<string>,
): Promise<string> {
  const images = new Set([...text.matchAll(FROM)].map(([, , image = '']) => image));
  const digests = new Map<string, string>();
  for (const image of images) digests.set(image, await digestOf(image));
  return text.replace(
    FROM,
    (_line, from: string, image: string, _old: string | undefined, name = '') =>
      `${from}${image}@${digests.get(image)}${name}`,
  );
}

/** The digest that the registry gives to a tag now. Throws in words for the person at the terminal. */
export async function readDigest(image: string, send: typeof fetch): Promise<string> {
  const [, host, name, tag] = /^([^/]+)\/(\S+):([\w.-]+)$/.exec(image) ?? [];
  if (host !== REGISTRY) throw new Error(`${image}: only images of ${REGISTRY} can be asked for.`);
  const access = await send(`https://${REGISTRY}/token/?service=${REGISTRY}&scope=repository:${name}:pull`);
  const { token } = access.ok ? ((await access.json()) as { token?: unknown }) : {};
  if (typeof token !== 'string') throw new Error(`${REGISTRY} gave no token.`);
  const answer = await send(`https://${REGISTRY}/v2/${name}/manifests/${tag}`, {
    method: 'HEAD',
    headers: { accept: ACCEPT, authorization: `Bearer ${token}` },
  });
  const digest = answer.headers.get('docker-content-digest') ?? '';
  if (!answer.ok || !DIGEST.test(digest)) throw new Error(`${REGISTRY} gave no digest of ${image}.`);
  return digest;
}
