import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Background } from './background.ts';
import type { ForgeControl, GateJudgement } from './control.ts';
import { Repository } from './git/repository.ts';
import type { AccessLevel, CiKind, ForgeState, PullRecord, RepoRecord, UserRecord } from './model.ts';
import type { Profile } from './profiles.ts';
import type { Timers } from './timers.ts';

/** The knobs that a test or a demo may turn while the forge runs. */
export interface Knobs {
  /** `judge`: `judge()` decides at once what a run comes to. `run`: the workflow's steps are executed. */
  gate: 'judge' | 'run';
  judge: ForgeControl['judge'];
  gateDurationMs: number;
  mergeBehaviour: ForgeControl['mergeBehaviour'];
  checkDelayMs: number;
  /** A moved base has no pull request checked before it is read by its number, as Gitea does from 1.24 on after days of rest. */
  delaysChecks: boolean;
  /** Gitea: the tip that the list shows of the default branch, whose later pushes it failed to write down. Null: it wrote down all. */
  listedTip: string | null;
  /** Between a push and the forge's own work on it: `refs/pull`, timeline entry, conflict checks. */
  pushDelayMs: number;
  /** Between a push and the runs it starts. */
  actionsDelayMs: number;
  fault: ForgeControl['fault'];
  /** True loses the delivery before it is sent. */
  dropWebhook: (event: string, url: string) => boolean;
  webhookDelayMs: number;
  /** Pull requests that the list shows as `null`. */
  nullPulls: Set<number>;
  /** Runs what a push starts. Another CI than Actions is told by the same file, shows no run and posts statuses. */
  ci: CiKind;
  /** Workflows of another repository that each push to this one runs, and what they come to. Gitea from 1.27 on. */
  scopedWorkflows: readonly { readonly file: string; readonly verdict: GateJudgement }[];
  /** Workflows executed at the same time. */
  runnerSlots: number;
}

/** The forge as its parts see it. All functions in `world/` expect the lock of `background` to be held. */
export interface World {
  readonly profile: Profile;
  readonly timers: Timers;
  readonly background: Background;
  readonly knobs: Knobs;
  readonly store: StateStore;
  readonly state: ForgeState;
  /** Puts a pull request in the auto-merge queue for one head; set where the forge is put together. */
  queueAutoMerge(repo: RepoRecord, pull: PullRecord, sha: string): void;
  /** No trailing slash. Prefix of every URL the forge hands out. */
  rootUrl(): string;
  /** The authority behind it; null before the forge listens. */
  caFile(): string | null;
}

/** State on disk: one JSON file beside one bare repository per repo. */
export class StateStore {
  readonly #dir: string;
  readonly #repositories = new Map<number, Repository>();
  readonly state: ForgeState;
  #writePlanned = false;

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(join(dir, 'repositories'), { recursive: true });
    this.state = existsSync(this.#file)
      ? (JSON.parse(readFileSync(this.#file, 'utf8')) as ForgeState)
      : { nextId: 1, users: [], tokens: [], repos: [] };
  }

  get #file(): string {
    return join(this.#dir, 'forge.json');
  }

  repositoryDir(id: number): string {
    return join(this.#dir, 'repositories', `${id}.git`);
  }

  repository(id: number): Repository {
    const known = this.#repositories.get(id);
    if (known !== undefined) return known;
    const opened = new Repository(this.repositoryDir(id));
    this.#repositories.set(id, opened);
    return opened;
  }

  /** Writes once for all changes of one turn of the event loop. */
  changed(): void {
    if (this.#writePlanned) return;
    this.#writePlanned = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    if (!this.#writePlanned) return;
    this.#writePlanned = false;
    const draft = `${this.#file}.tmp`;
    writeFileSync(draft, JSON.stringify(this.state));
    renameSync(draft, this.#file);
  }
}

export function takeId(world: World): number {
  world.store.changed();
  return world.state.nextId++;
}

export function gitOf(world: World, repo: RepoRecord): Repository {
  return world.store.repository(repo.id);
}

export function findUser(world: World, login: string): UserRecord | undefined {
  return world.state.users.find((user) => user.login.toLowerCase() === login.toLowerCase());
}

export function findRepo(world: World, owner: string, name: string): RepoRecord | undefined {
  const slug = `${owner}/${name}`.toLowerCase();
  return world.state.repos.find((repo) => slugOf(repo).toLowerCase() === slug);
}

export function repoById(world: World, id: number): RepoRecord | undefined {
  return world.state.repos.find((repo) => repo.id === id);
}

export function findPull(repo: RepoRecord, index: number): PullRecord | undefined {
  return repo.pulls.find((pull) => pull.index === index);
}

/** Where the head is now: its branch, or for an AGit pull request what the forge keeps. Null: gone. */
export function headTip(world: World, pull: PullRecord): string | null {
  const repo = repoById(world, pull.headRepoId);
  if (repo === undefined) return null;
  const git = gitOf(world, repo);
  return pull.agit === true ? git.ref(`refs/pull/${pull.index}/head`) : git.tip(pull.headBranch);
}

export function slugOf(repo: RepoRecord): string {
  return `${repo.owner}/${repo.name}`;
}

const LEVELS: readonly AccessLevel[] = ['none', 'read', 'write', 'admin'];

export function accessOf(world: World, repo: RepoRecord, login: string | null): AccessLevel {
  const open: AccessLevel = repo.private ? 'none' : 'read';
  if (login === null) return open;
  if (login === world.profile.actionsUser) return 'write';
  const user = findUser(world, login);
  if (user === undefined) return open;
  if (user.siteAdmin || repo.owner.toLowerCase() === user.login.toLowerCase()) return 'admin';
  const lent = (repo.teams ?? [])
    .filter(({ members }) => members.includes(user.login))
    .map(({ code }) => code);
  return maxLevel([repo.collaborators[user.login] ?? open, ...lent]);
}

function maxLevel(levels: readonly AccessLevel[]): AccessLevel {
  return LEVELS[Math.max(...levels.map((level) => LEVELS.indexOf(level)))] ?? 'none';
}

export function hasAccess(
  world: World,
  repo: RepoRecord,
  login: string | null,
  needed: AccessLevel,
): boolean {
  return LEVELS.indexOf(accessOf(world, repo, login)) >= LEVELS.indexOf(needed);
}

/** The forge's clock shows whole seconds to the outside. */
export function timestamp(at: number | null): string | null {
  return at === null ? null : new Date(Math.floor(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
