import type { Repo } from './asked.ts';
import { Misuse } from './context.ts';
import { type Named, type NamedForge, readAddress } from './remote.ts';

/** The part of a repository that tells it from the others. */
export type Known = Pick<Repo, 'name' | 'base_branch' | 'instance_url'>;

/**
 * Reads the value of `--repo`: `owner/name`, `host/owner/name` (with port and path of the forge where there are any),
 * or an address.
 */
export function readRepoName(text: string): Named {
  const { length } = text.split('/').filter((part) => part !== '');
  // `host:3000/owner/name` would be a path of SSH.
  const isAddress = text.includes('://') || /^[^/[]*@|^[^/:[]+:\D/.test(text);
  const named = isAddress || length < 3 ? readAddress(text) : readAddress(`https://${text}`);
  if (named === null) throw new Misuse(NO_NAME);
  return named;
}

export const NO_NAME = 'Name the repository: --repo OWNER/NAME.';

/**
 * The one queue that the call means. Throws `Misuse` where several forges have a repository of that name: a hold, or
 * the forge token of a person, could reach the wrong one.
 */
export function pickRepo<T extends Known>(repos: readonly T[], named: Named, branch: string | undefined): T {
  const { slug, forge } = named;
  const namesakes = repos.filter(({ name }) => name.toLowerCase() === slug.toLowerCase());
  const found = onForge(namesakes, forge).filter(
    ({ base_branch }) => (branch ?? base_branch) === base_branch,
  );
  const [one, ...others] = found;
  if (one === undefined) throw new Misuse(sayNone(named, branch, namesakes));
  if (others.length === 0) return one;
  const forges = listNames(found);
  throw new Misuse(
    forges.length > 1
      ? `Several forges have ${slug}: name one with ${options('--repo', forges)}.`
      : `${slug} has several queues: name one with ${options('--branch', branchesOf(found))}.`,
  );
}

/** Whether an address names a repository of this list. */
export const isAmong = (repos: readonly Known[], { slug, forge }: Named): boolean =>
  onForge(
    repos.filter(({ name }) => name.toLowerCase() === slug.toLowerCase()),
    forge,
  ).length > 0;

function sayNone(named: Named, branch: string | undefined, namesakes: readonly Known[]): string {
  const queue = branch === undefined ? 'queue' : `queue for ${branch}`;
  const none = `The token sees no ${queue} of ${sayNamed(named)}`;
  const onIt = onForge(namesakes, named.forge);
  if (onIt.length > 0) return `${none}, but one with ${options('--branch', branchesOf(onIt))}.`;
  if (namesakes.length === 0)
    return `${none}: check the name, that the repository is enrolled, and that the token is for it.`;
  return `${none}, but one with ${options('--repo', listNames(namesakes))}.`;
}

const options = (option: string, values: readonly string[]): string =>
  values.map((value) => `${option} ${value}`).join(' or ');

const branchesOf = (repos: readonly Known[]): readonly string[] => [
  ...new Set(repos.map(({ base_branch }) => base_branch)),
];

/**
 * The repositories that an address may mean. An SSH address may have another host than the page of the forge; with an
 * unknown host all are left.
 */
function onForge<T extends Known>(repos: readonly T[], forge: NamedForge | null): readonly T[] {
  if (forge === null) return repos;
  const onHost = repos.filter(({ instance_url }) => forgeOf(instance_url).host === forge.host);
  if (forge.way === 'ssh') return onHost.length === 0 ? repos : onHost;
  const exact = onHost.filter(({ instance_url }) => {
    const { port, path } = forgeOf(instance_url);
    return port === forge.port && path === forge.path;
  });
  if (exact.length > 0) return exact;
  // What is named has to be right. The service speaks to a forge by HTTPS alone: a port of HTTP is another one there.
  return onHost.filter(({ instance_url }) => {
    const { port, path } = forgeOf(instance_url);
    return (forge.way === 'http' || ['', port].includes(forge.port)) && ['', path].includes(forge.path);
  });
}

/** Host, port and path of the address of a forge, as the service tells it. */
function forgeOf(address: string): Pick<NamedForge, 'host' | 'port' | 'path'> {
  if (!URL.canParse(address)) return { host: '', port: '', path: '' };
  const { hostname: host, port, pathname } = new URL(address);
  return { host, port, path: pathname.replaceAll(/^\/+|\/+$/g, '') };
}

const nameWithForge = ({ name, instance_url }: Known): string => join(forgeOf(instance_url), name);

export const sayNamed = ({ slug, forge }: Named): string =>
  forge === null || forge.way === 'ssh' ? slug : join(forge, slug);

const join = ({ host, port, path }: ReturnType<typeof forgeOf>, slug: string): string =>
  [`${host}${port === '' ? '' : `:${port}`}`, path, slug].filter((part) => part !== '').join('/');

const listNames = (repos: readonly Known[]): readonly string[] => [...new Set(repos.map(nameWithForge))];

/** Name of a repository, with its forge where another forge has a repository of that name. */
export function sayRepo(repo: Known, repos: readonly Known[]): string {
  const namesakes = repos.filter(({ name }) => name === repo.name);
  return new Set(namesakes.map(({ instance_url }) => instance_url)).size > 1
    ? nameWithForge(repo)
    : repo.name;
}
