import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git as runGit } from './git/process.ts';
import { Repository } from './git/repository.ts';
import type { AccessLevel, RepoRecord, UserRecord } from './model.ts';
import { signatureOf } from './world/merge.ts';
import { createRule } from './world/protection.ts';
import { findRepo, findUser, gitOf, takeId, type World } from './world.ts';

export function ensureUser(world: World, login: string, siteAdmin = false): UserRecord {
  const known = findUser(world, login);
  if (known !== undefined) return known;
  const user = { id: takeId(world), login, fullName: '', email: `${login}@example.test`, siteAdmin };
  world.state.users.push(user);
  return user;
}

export interface NewRepo {
  readonly owner: string;
  readonly name: string;
  readonly defaultBranch?: string;
  readonly private?: boolean;
  /** First commit; without files the repository is empty. */
  readonly files?: Readonly<Record<string, string>>;
  readonly collaborators?: Readonly<Record<string, AccessLevel>>;
  /** Contexts the rule of the default branch asks for; absent: no rule. */
  readonly requiredContexts?: readonly string[];
}

export async function createRepo(world: World, options: NewRepo): Promise<RepoRecord> {
  if (findRepo(world, options.owner, options.name) !== undefined) throw new Error('repository exists');
  ensureUser(world, options.owner);
  for (const login of Object.keys(options.collaborators ?? {})) ensureUser(world, login);
  const repo = newRecord(world, options, null);
  const git = Repository.create(world.store.repositoryDir(repo.id), repo.defaultBranch);
  world.state.repos.push(repo);
  if (options.files !== undefined) {
    const changes = Object.entries(options.files).map(([path, text]) => ({
      path,
      content: Buffer.from(text),
    }));
    const who = signatureOf(world, options.owner);
    const tree = await git.changeTree(null, changes);
    const commit = git.objects.writeCommit({
      tree,
      parents: [],
      author: who,
      committer: who,
      message: 'First commit',
    });
    await git.setRef(`refs/heads/${repo.defaultBranch}`, commit);
  }
  if (options.requiredContexts !== undefined) {
    const rule = createRule(world, repo.defaultBranch);
    rule.enable_status_check = true;
    rule.status_check_contexts = [...options.requiredContexts];
    rule.applies_to_admins = true;
    repo.rules.push(rule);
  }
  return repo;
}

function newRecord(world: World, options: NewRepo, forkOf: number | null): RepoRecord {
  return {
    id: takeId(world),
    owner: options.owner,
    name: options.name,
    private: options.private ?? false,
    archived: false,
    defaultBranch: options.defaultBranch ?? 'main',
    hasActions: true,
    forkOf,
    collaborators: { ...options.collaborators },
    allowedStyles: ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'],
    deleteBranchAfterMerge: false,
    nextIndex: 1,
    nextRunIndex: 1,
    pulls: [],
    rules: [],
    hooks: [],
    statuses: [],
    runs: [],
    merges: [],
  };
}

/** A fork of `owner`, sharing the objects of its parent. */
export async function ensureFork(world: World, parent: RepoRecord, owner: string): Promise<RepoRecord> {
  const known = world.state.repos.find((repo) => repo.forkOf === parent.id && repo.owner === owner);
  if (known !== undefined) return known;
  ensureUser(world, owner);
  const fork = newRecord(world, { owner, name: parent.name, defaultBranch: parent.defaultBranch }, parent.id);
  fork.hasActions = false;
  const git = Repository.create(world.store.repositoryDir(fork.id), fork.defaultBranch);
  const source = gitOf(world, parent);
  writeFileSync(join(git.dir, 'objects', 'info', 'alternates'), `${join(source.dir, 'objects')}\n`);
  await runGit(git.dir, ['fetch', '--quiet', '--no-tags', source.dir, '+refs/heads/*:refs/heads/*']);
  world.state.repos.push(fork);
  return fork;
}
