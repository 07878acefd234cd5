import { readFileSync } from 'node:fs';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import {
  asksForkForMergeRight,
  listsRuns,
  listsRunsForOwners,
  parseForgeVersion,
  workflowFolders,
} from '#core/domain/forge/forge-version.ts';
import { GitDesk } from '../../scenario/trees/git-desk.ts';
import { deleteEach } from '../../support/delete-each.ts';
import type { Actor, ForgeSubject } from './subject.ts';
import { factsOf } from './version-facts.ts';

/** Time between two looks at a real forge, which works on wall time. */
const LOOK_AGAIN_MS = 500;
/** The contents call starts several git programs for every file: a thousand at once outlast the time-out. */
const FILES_PER_CALL = 200;

/**
 * A forge at `FORGE_URL`, whose owner vouches for it. `FORGE_TOKEN` is the bot's, with the scopes of the README;
 * `FORGE_PERSON_TOKEN` and `FORGE_READER_TOKEN` are two other users' and open the tests that need them. `FORGE_CA_FILE`
 * names a private authority. Makes repositories named `contract-…` and deletes them: under the account of `FORGE_OWNER_TOKEN`, where the
 * bot administers them as most bots do, else under the bot, whom a forge may let do more.
 */
export async function openReal(env: Readonly<Record<string, string | undefined>>): Promise<ForgeSubject> {
  const instanceUrl = (env.FORGE_URL ?? '').replace(/\/+$/, '');
  const caPem = env.FORGE_CA_FILE === undefined ? {} : { caPem: readFileSync(env.FORGE_CA_FILE, 'utf8') };
  const http = createGuardedHttp({ allowHosts: [new URL(instanceUrl).host], ...caPem });
  const call = createCall(instanceUrl, http.send);
  const tokens: Partial<Record<Actor, { login: string; token: string }>> = {};
  const given = { bot: env.FORGE_TOKEN, person: env.FORGE_PERSON_TOKEN, reader: env.FORGE_READER_TOKEN };
  for (const [actor, token] of Object.entries(given)) {
    if (token !== undefined)
      tokens[actor as Actor] = { login: (await call(token, 'GET', '/user')).login, token };
  }
  const bot = tokens.bot;
  if (bot === undefined) throw new Error('FORGE_TOKEN is not set');
  const owner = env.FORGE_OWNER_TOKEN ?? bot.token;
  const { login: ownerLogin } = await call(owner, 'GET', '/user');
  const version: string = (await call(bot.token, 'GET', '/version')).version;
  const parsed = parseForgeVersion(version);
  if (parsed === null) throw new Error(`the forge says it is ${version}, which is neither Forgejo nor Gitea`);
  const { major, minor } = parsed;
  const isForgejo = parsed.kind === 'forgejo';
  /** A test may have deleted its repository itself. */
  const remove = (token: string, slug: string): Promise<void> =>
    call(token, 'DELETE', `/repos/${slug}`).catch((error: unknown) => {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
    });
  const created: string[] = [];
  const forks: string[] = [];
  const topics = new Map<string, string>();
  return {
    access: { instanceUrl, send: http.send, scopedToken: env.FORGE_SCOPED_TOKEN ?? null, tokens },
    facts: factsOf(parsed),
    tellsRuns: isForgejo ? major >= 13 : listsRuns(parsed),
    listsRuns: listsRuns(parsed) && (ownerLogin === bot.login || !listsRunsForOwners(parsed)),
    asksForkForMergeRight: asksForkForMergeRight(parsed),
    cancelsRuns: isForgejo ? major >= 16 : major > 1 || minor >= 28,
    hasRulePriorities: !isForgejo && (major > 1 || minor >= 23),
    workflowDir: workflowFolders(parsed)[0] ?? '',
    fake: null,
    async createRepo(files) {
      const name = `contract-${Date.now().toString(36)}-${created.length}`;
      await call(owner, 'POST', '/user/repos', {
        name,
        private: true,
        auto_init: true,
        default_branch: 'main',
      });
      const slug = `${ownerLogin}/${name}`;
      created.push(slug);
      for (const [actor, permission] of [
        ['bot', 'admin'],
        ['person', 'write'],
        ['reader', 'read'],
      ] as const) {
        const login = tokens[actor]?.login;
        if (login !== undefined && login !== ownerLogin)
          await call(owner, 'PUT', `/repos/${slug}/collaborators/${login}`, { permission });
      }
      const readme = await call(bot.token, 'GET', `/repos/${slug}/contents/README.md`);
      const operations = Object.entries(files).map(([path, text]) => ({
        operation: path === 'README.md' ? 'update' : 'create',
        path,
        content: Buffer.from(text).toString('base64'),
        ...(path === 'README.md' ? { sha: readme.sha } : {}),
      }));
      for (let at = 0; at < operations.length; at += FILES_PER_CALL) {
        await call(bot.token, 'POST', `/repos/${slug}/contents`, {
          branch: 'main',
          message: 'files',
          files: operations.slice(at, at + FILES_PER_CALL),
        });
      }
      return slug;
    },
    async fork(slug) {
      const fork = (await call(tokens.person?.token ?? '', 'POST', `/repos/${slug}/forks`, {})).full_name;
      forks.push(fork);
      return fork;
    },
    async pushAgit(slug, topic, files) {
      const url = new URL(`${instanceUrl}/${slug}.git`);
      url.username = tokens.reader?.login ?? '';
      url.password = tokens.reader?.token ?? '';
      const desk = new GitDesk(url.href, env.FORGE_CA_FILE);
      try {
        await desk.open();
        const [main] = (await desk.readLine('main')).toReversed();
        const parent = topics.get(`${slug} ${topic}`) ?? main?.sha ?? null;
        if (parent !== main?.sha) await desk.git(['fetch', '--quiet', url.href, parent ?? '']);
        const change = Object.fromEntries(
          Object.entries(files).map(([path, content]) => [path, { mode: '100644', content } as const]),
        );
        const [head = ''] = await desk.commitAll([{ parent, change, message: 'Pushed for review' }]);
        await desk.git(['push', '--quiet', '-o', `topic=${topic}`, url.href, `${head}:refs/for/main`]);
        topics.set(`${slug} ${topic}`, head);
        return head;
      } finally {
        desk.dispose();
      }
    },
    now: () => Date.now(),
    wait: () => new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS)),
    async stop() {
      const ofPerson = tokens.person?.token ?? '';
      try {
        await deleteEach([
          ...forks.map((slug) => () => remove(ofPerson, slug)),
          ...created.map((slug) => () => remove(owner, slug)),
        ]);
      } finally {
        http.close();
      }
    },
  };
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

function createCall(instanceUrl: string, send: HttpSend) {
  // biome-ignore lint/suspicious/noExplicitAny: set-up calls read whatever the forge sends.
  return async (token: string, method: Method, path: string, body?: unknown): Promise<any> => {
    const response = await send({
      method,
      url: `${instanceUrl}/api/v1${path}`,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      timeoutMs: 30_000,
      bodyBytesMax: 10_000_000,
    });
    const text = response.body.toString('utf8');
    if (response.status > 299)
      throw new Refused(response.status, `${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}
