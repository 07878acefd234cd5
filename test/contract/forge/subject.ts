import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import type { PullRequest, TreeEntry } from '#core/domain/forge/forge.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { Secret } from '#core/secret.ts';
import type { FakeForge } from '../../../local/forge/fake-forge.ts';
import { givenHeldLease } from '../../builders/held-lease.ts';
import type { VersionFacts } from './version-facts.ts';

export type Actor = 'bot' | 'person' | 'reader';

export interface ForgeAccess {
  readonly instanceUrl: string;
  readonly send: HttpSend;
  /** The bot's, with `read:repository` alone. */
  readonly scopedToken: string | null;
  /** The bot's with the scopes of the table and no more, for the client under test. @default the bot's own */
  readonly clientToken?: string;
  /** Logins and tokens of those who exist; the bot always does. */
  readonly tokens: Readonly<Partial<Record<Actor, { readonly login: string; readonly token: string }>>>;
}

/** A forge to be held against the facts: a fake in one version profile, or a real one. */
export interface ForgeSubject {
  readonly access: ForgeAccess;
  readonly facts: VersionFacts;
  /** To the bot. */
  readonly listsRuns: boolean;
  /** It sends an event for the end of a gate run. Forgejo 12 does for hooks that were made on its pages alone. */
  readonly tellsRuns: boolean;
  readonly cancelsRuns: boolean;
  /** Forgejo, and Gitea before 1.26: the one who scheduled needs write access to the fork. */
  readonly asksForkForMergeRight: boolean;
  /** Gitea: rules have an order of their own, and force pushes list every commit. */
  readonly hasRulePriorities: boolean;
  readonly workflowDir: string;
  /** Inside view for what no API can bring about; null for a real forge. */
  readonly fake: FakeForge | null;
  /** A fresh repository `owner/name` with these files on `main` and no rule; every actor is a collaborator. */
  createRepo(files: Readonly<Record<string, string>>): Promise<string>;
  /** A fork that belongs to the person, who must exist; returns its slug. */
  fork(slug: string): Promise<string>;
  /** The reader's push of one commit on `main`, or on the topic's head, to `refs/for/main`. Returns it. */
  pushAgit(slug: string, topic: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** The forge's time in ms: virtual for a fake. */
  now(): number;
  /** Lets the forge get on with its own work for about a second. */
  wait(): Promise<void>;
  stop(): Promise<void>;
}

/** The needs of a test beyond a bot on a forge; without them the test is skipped, not passed. */
export type Means = 'fake' | 'person' | 'reader' | 'runner' | 'webhooks' | 'scoped';
export type Needs = (means: Means) => typeof test | typeof test.skip;

export function fakeOf(subject: ForgeSubject): FakeForge {
  if (subject.fake === null) throw new Error('only the fake can be told to do this');
  return subject.fake;
}

export interface ApiAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: set-up calls read whatever the forge sends.
  readonly json: any;
}

/** With which token the client under test acts. */
export function clientTokenOf({ tokens, clientToken }: ForgeAccess, as: Actor): string {
  return (as === 'bot' ? clientToken : undefined) ?? tokens[as]?.token ?? '';
}

/** One repository of a subject, with the client under test and the calls by which people set things up. */
export class RepoDriver {
  readonly forge: EngineForge;

  constructor(
    readonly subject: ForgeSubject,
    readonly slug: string,
  ) {
    this.forge = this.connect({});
  }

  static async create(
    subject: ForgeSubject,
    files: Readonly<Record<string, string>> = {},
  ): Promise<RepoDriver> {
    return new RepoDriver(subject, await subject.createRepo({ 'README.md': '# app\n', ...files }));
  }

  connect(change: { readonly as?: Actor; readonly token?: string; readonly slug?: string }): EngineForge {
    const { access } = this.subject;
    return createEngineForge(givenHeldLease(), {
      instanceUrl: access.instanceUrl,
      slug: change.slug ?? this.slug,
      token: new Secret(change.token ?? clientTokenOf(access, change.as ?? 'bot')),
      send: access.send,
      clock: { now: () => Date.now() },
    });
  }

  loginOf(actor: Actor): string {
    return this.subject.access.tokens[actor]?.login ?? '';
  }

  /** A call below `/repos/{owner}/{name}` that is no part of the client. */
  async api(
    as: Actor,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<ApiAnswer> {
    const { access } = this.subject;
    const response = await access.send({
      method,
      url: `${access.instanceUrl}/api/v1/repos/${this.slug}${path}`,
      headers: {
        authorization: `token ${access.tokens[as]?.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      timeoutMs: 30_000,
      bodyBytesMax: 10_000_000,
    });
    const text = response.body.toString('utf8');
    // A route that the forge has not is a line of plain text.
    const isJson = response.headers['content-type']?.includes('json') === true;
    return { status: response.status, json: isJson ? JSON.parse(text) : undefined };
  }

  /** The same, and it must work. */
  async must(
    as: Actor,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<ApiAnswer['json']> {
    const answer = await this.api(as, method, path, body);
    if (answer.status > 299)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
    return answer.json;
  }

  /** One commit on `branch`, or on `newBranch` grown from it. Returns its id. */
  async commit(
    as: Actor,
    files: Readonly<Record<string, string | null>>,
    on: { readonly branch?: string; readonly newBranch?: string } = {},
  ): Promise<string> {
    const branch = on.branch ?? 'main';
    const forge = as === 'bot' ? this.forge : this.connect({ as });
    const known = new Map((await listFiles(forge, branch)).map((entry) => [entry.path, entry.id]));
    const operations = Object.entries(files).map(([path, content]) => {
      const sha = known.get(path);
      if (content === null) return { operation: 'delete', path, sha };
      const encoded = Buffer.from(content).toString('base64');
      if (sha === undefined) return { operation: 'create', path, content: encoded };
      return { operation: 'update', path, content: encoded, sha };
    });
    const body = {
      branch,
      ...(on.newBranch === undefined ? {} : { new_branch: on.newBranch }),
      message: 'a change',
      files: operations,
    };
    return (await this.must(as, 'POST', '/contents', body)).commit.sha;
  }

  /** A branch with one commit and its pull request. Returns number and head. */
  async openPull(
    as: Actor,
    branch: string,
    files: Readonly<Record<string, string | null>>,
    change: { readonly title?: string; readonly base?: string } = {},
  ): Promise<{ readonly pr: number; readonly head: string }> {
    const base = change.base ?? 'main';
    const head = await this.commit(as, files, { branch: base, newBranch: branch });
    const body = { head: branch, base, title: change.title ?? `Change ${branch}`, body: '' };
    return { pr: (await this.must(as, 'POST', '/pulls', body)).number, head };
  }

  /** Asks until the answer is good; the forge does much of its work after it has answered. */
  async until<T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> {
    let last: T = await read();
    for (let tries = 0; !good(last) && tries < 60; tries += 1) {
      await this.subject.wait();
      last = await read();
    }
    if (!good(last)) throw new Error(`never came about; last: ${JSON.stringify(last)}`);
    return last;
  }

  /** Merges it or schedules its merge, once the forge has ended the conflict check that it may have begun since. */
  async merge(as: Actor, pr: number, how: Readonly<Record<string, unknown>>): Promise<void> {
    const path = `/pulls/${pr}/merge`;
    const answer = await this.until(
      () => this.api(as, 'POST', path, how),
      ({ status, json }) => status !== 405 || !/try again/i.test(String(json?.message)),
    );
    if (answer.status > 299) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
  }

  /** Until the forge calls it mergeable: its conflict check has ended. */
  untilMergeable(pr: number): Promise<PullRequest> {
    return this.until(
      () => this.forge.readPullRequest(pr),
      (pull) => pull.mergeable,
    );
  }
}

/** Every file below a commit, a branch or a tree, read directory by directory where one answer does not hold them. */
export async function listFiles(forge: EngineForge, ref: string): Promise<readonly TreeEntry[]> {
  const { entries } = await forge.readTree(ref, 'all');
  if (entries !== null) return entries.filter((entry) => entry.mode !== DIRECTORY_MODE);
  const files: TreeEntry[] = [];
  for (const entry of (await forge.readTree(ref, 'one')).entries ?? []) {
    if (entry.mode !== DIRECTORY_MODE) files.push(entry);
    else {
      const below = await listFiles(forge, entry.id);
      files.push(...below.map((file) => ({ ...file, path: `${entry.path}/${file.path}` })));
    }
  }
  return files;
}

const DIRECTORY_MODE = '040000';
