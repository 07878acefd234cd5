import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { parseForgeVersion, workflowFolders } from '#core/domain/forge/forge-version.ts';
import { BOT, createFakeForge } from '../../../local/forge/fake-forge.ts';
import type { ProfileName } from '../../../local/forge/profiles.ts';
import { deleteEach } from '../../support/delete-each.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

export interface CellClock {
  readonly clock: VirtualClock;
  /** Nothing but time is waited for. Time that passes by itself is set forward. */
  skip(ms: number): void;
}

export interface TreeForge {
  readonly instanceUrl: string;
  readonly caFile: string | undefined;
  readonly send: HttpSend;
  /** Time of one cell. */
  startClock(): CellClock;
  /** The first folder that this forge reads workflows from. */
  readonly workflowFolder: string;
  /** Its conflict check may go path by path: it follows no rename, and calls a mode against a content a conflict. */
  readonly checksByPath: boolean;
  readonly bot: { readonly login: string; readonly token: string };
  readonly person: { readonly login: string; readonly token: string };
  /** Lets the forge finish what it does after its answers. */
  settle(): Promise<void>;
  /** An empty repository; returns its slug. */
  createRepo(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** Time of a real forge: waits for real, but never longer than a look is worth, nor so shortly that looks are its load. */
class WallClock extends VirtualClock {
  #aheadMs = 0;

  override now(): number {
    return Date.now() + this.#aheadMs;
  }
  skip(ms: number): void {
    this.#aheadMs += ms;
  }
  override monotonic(): number {
    return performance.now();
  }
  override async sleep(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(ms, LOOK_MS_MIN), LOOK_MS_MAX)));
  }
  override advance(ms: number): Promise<void> {
    return this.sleep(ms);
  }
}
const LOOK_MS_MIN = 3_000;
const LOOK_MS_MAX = 5_000;

export async function openFakeTreeForge(profile: ProfileName = 'fj15'): Promise<TreeForge> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tree-forge-'));
  const clock = new VirtualClock();
  const failures: unknown[] = [];
  const fake = createFakeForge({
    dataDir,
    profile,
    timers: clock,
    seed: null,
    knobs: { gateDurationMs: 2_000 },
    onError: (error) => failures.push(error),
  });
  const { httpsUrl, caFile } = await fake.start();
  fake.addUser('dev');
  fake.addUser(BOT);
  const http = createGuardedHttp({
    allowHosts: [new URL(httpsUrl).host],
    caPem: readFileSync(caFile, 'utf8'),
  });
  return {
    instanceUrl: httpsUrl,
    caFile,
    send: http.send,
    startClock: () => ({ clock, skip: () => undefined }),
    workflowFolder: fake.profile.workflowDirs[0] ?? '',
    checksByPath: fake.profile.checksByPath,
    bot: { login: BOT, token: fake.addToken(BOT) },
    person: { login: 'dev', token: fake.addToken('dev') },
    settle: () => fake.settle(),
    async createRepo(name) {
      await fake.createRepo({ owner: 'acme', name, collaborators: { dev: 'write', [BOT]: 'admin' } });
      return `acme/${name}`;
    },
    async stop() {
      http.close();
      await fake.stop();
      rmSync(dataDir, { recursive: true, force: true });
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** The forge at `FORGE_URL`, with a runner attached; the same variables as `npm run test:forge`. */
export async function openRealTreeForge(
  env: Readonly<Record<string, string | undefined>>,
): Promise<TreeForge> {
  const instanceUrl = (env.FORGE_URL ?? '').replace(/\/+$/, '');
  const caPem = env.FORGE_CA_FILE === undefined ? {} : { caPem: readFileSync(env.FORGE_CA_FILE, 'utf8') };
  const http = createGuardedHttp({ allowHosts: [new URL(instanceUrl).host], ...caPem });
  const created: string[] = [];
  const botToken = env.FORGE_TOKEN ?? '';
  const personToken = env.FORGE_PERSON_TOKEN ?? botToken;
  const call = (token: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
    callApi(http.send, instanceUrl, token, method, path, body);
  const loginOf = async (token: string): Promise<string> => (await call(token, 'GET', '/user')).login;
  const version = parseForgeVersion((await call(botToken, 'GET', '/version')).version);
  if (version === null) throw new Error('the forge says it is neither Forgejo nor Gitea');
  const bot = { login: await loginOf(botToken), token: botToken };
  const person = { login: await loginOf(personToken), token: personToken };
  return {
    instanceUrl,
    caFile: env.FORGE_CA_FILE,
    send: http.send,
    startClock() {
      const clock = new WallClock();
      return { clock, skip: (ms) => clock.skip(ms) };
    },
    workflowFolder: workflowFolders(version)[0] ?? '',
    // Depends on the git beside it, which no call tells.
    checksByPath: version.kind === 'gitea',
    bot,
    person,
    settle: async () => undefined,
    async createRepo(name) {
      const unique = `trees-${Date.now().toString(36)}-${name}`;
      await call(botToken, 'POST', '/user/repos', { name: unique, private: true, default_branch: 'main' });
      const slug = `${bot.login}/${unique}`;
      created.push(slug);
      if (person.login !== bot.login) {
        const permission = 'write';
        await call(botToken, 'PUT', `/repos/${slug}/collaborators/${person.login}`, { permission });
      }
      return slug;
    },
    async stop() {
      try {
        await deleteEach(created.map((slug) => () => call(botToken, 'DELETE', `/repos/${slug}`)));
      } finally {
        http.close();
      }
    },
  };
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A call that must work; the status comes with the error. */
export async function callApi(
  send: HttpSend,
  instanceUrl: string,
  token: string,
  method: Method,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: set-up calls read whatever the forge sends.
): Promise<any> {
  const response = await send({
    method,
    url: `${instanceUrl}/api/v1${path}`,
    headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    timeoutMs: 60_000,
    bodyBytesMax: 10_000_000,
  });
  const answer = response.body.toString('utf8');
  if (response.status > 299) {
    throw Object.assign(new Error(`${method} ${path}: ${response.status} ${answer.slice(0, 200)}`), {
      status: response.status,
    });
  }
  return answer === '' ? undefined : JSON.parse(answer);
}
