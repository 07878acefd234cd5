import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_SERVICE_NAME, stagingPattern, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import { CI_WAYS, contextsOf } from '../forge/ci/other-ci.ts';
import type { OtherCi, RunStatus } from '../forge/model.ts';
import type { RealForge } from '../forge-account.ts';
import type { Person } from './people.ts';
import { TEST_PROGRAM } from './project.ts';

/** A CI that judges the batches of a real forge and reports by commit statuses. */
export interface StatusCi {
  readonly contexts: readonly string[];
  /** The account that posts them. */
  readonly author: string;
  /** Gate runs that it began; null = it is not asked. */
  readonly runs: () => number | null;
  readonly stop: () => Promise<void>;
}

const WORKFLOW = 'gate';
const LOOK_EVERY_MS = 1_000;
const RUN_MS_MAX = 120_000;
const run = promisify(execFile);

/** A Woodpecker of one's own, and the token of a person there who administers the repository. */
export interface WoodpeckerAccess {
  readonly url: string;
  readonly token: string;
  /** Of its step; the name of a shell for an agent without containers. */
  readonly image: string;
}

export interface StatusCiOptions {
  /** The CI that the stand-in posts as. */
  readonly ci: OtherCi;
  readonly forge: RealForge;
  readonly slug: string;
  /** Its account: posts the statuses, and its token reads the commits. */
  readonly person: Person;
  readonly token: string;
  readonly dataDir: string;
  readonly woodpecker: WoodpeckerAccess | null;
}

export function startStatusCi(options: StatusCiOptions): Promise<StatusCi> {
  const { woodpecker } = options;
  return woodpecker === null ? startStandIn(options) : enableWoodpecker(options, woodpecker);
}

/** The files of the gate on the base: the stand-in needs none. */
export function statusGateFiles(woodpecker: WoodpeckerAccess | null): Readonly<Record<string, string>> {
  return woodpecker === null ? {} : woodpeckerFile(woodpecker.image);
}

/**
 * A stand-in of a CI in this process: looks for pushes to the branches of the queue, runs the project's tests on each commit,
 * and posts the contexts, words and links that the CI does. Commits that it judged before a restart are judged again.
 */
async function startStandIn(options: StatusCiOptions): Promise<StatusCi> {
  const { ci, slug, person, dataDir } = options;
  const ways = CI_WAYS[ci];
  const [context = ''] = ways.contexts(slug, [WORKFLOW]);
  const seen = new Set<string>();
  const going = new Set<Promise<void>>();
  const judge = async (branch: string, sha: string, index: number): Promise<void> => {
    const post = (status: RunStatus) => {
      const [state, description] = ways.words[status];
      const link = ways.link({ slug, branch, index, job: 0, status });
      return person.postStatus(sha, { context, state, description, target_url: link });
    };
    await post('waiting');
    await post('running');
    // Jenkins says so at the start and once more at the checkout.
    if (ways.each === 'build') await post('running');
    await post(await runTests(options, sha, join(dataDir, sha)));
  };
  const look = async (): Promise<void> => {
    for (const { name, sha } of await person.branches()) {
      if (!name.startsWith(stagingPrefix(DEFAULT_SERVICE_NAME)) || seen.has(sha)) continue;
      seen.add(sha);
      // A commit that cannot be read or written about stays without a verdict, as with a CI that is down.
      const judged = judge(name, sha, seen.size).catch(() => undefined);
      going.add(judged);
      void judged.then(() => going.delete(judged));
    }
  };
  let isStopped = false;
  const loop = (async () => {
    while (!isStopped) {
      await look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return {
    contexts: [context],
    author: await person.login(),
    runs: () => seen.size,
    stop: async () => {
      isStopped = true;
      await loop;
      await Promise.all(going);
    },
  };
}

/** The token goes by the environment: every list of processes shows a command line. */
async function runTests(
  { forge, slug, token }: StatusCiOptions,
  sha: string,
  folder: string,
): Promise<'success' | 'failure' | 'cancelled'> {
  const env = {
    ...process.env,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`ci:${token}`).toString('base64')}`,
    ...(forge.caFile === null ? {} : { GIT_SSL_CAINFO: resolve(forge.caFile) }),
  };
  mkdirSync(folder, { recursive: true });
  try {
    await run('git', ['init', '--quiet'], { cwd: folder, env });
    await run('git', ['fetch', '--quiet', '--depth', '1', `${forge.url}/${slug}`, sha], { cwd: folder, env });
    await run('git', ['checkout', '--quiet', 'FETCH_HEAD'], { cwd: folder, env });
    const { FORGE_TOKEN, FORGE_OWNER_TOKEN, FORGE_PERSON_TOKEN, ...bare } = process.env;
    return await run(process.execPath, [TEST_PROGRAM], { cwd: folder, env: bare, timeout: RUN_MS_MAX }).then(
      () => 'success' as const,
      // A run that was ended for its time says nothing about the tests.
      (error: { readonly killed?: boolean }) =>
        error.killed === true ? ('cancelled' as const) : ('failure' as const),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** It is told to build the repository. Its pipelines post as the account that the token is of. */
async function enableWoodpecker(
  { person, slug }: StatusCiOptions,
  { url, token }: WoodpeckerAccess,
): Promise<StatusCi> {
  const call = async (method: string, path: string): Promise<unknown> => {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    if (!response.ok) throw new Error(`Woodpecker answered ${response.status} to ${method} /api${path}`);
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  };
  const { login } = (await call('GET', '/user')) as { readonly login: string };
  // A story that was interrupted has enabled it before.
  const repo = (await call('POST', `/repos?forge_remote_id=${await person.repoId()}`).catch(() =>
    call('GET', `/repos/lookup/${slug}`),
  )) as { readonly id: number };
  return {
    contexts: contextsOf('woodpecker', '', [WORKFLOW]),
    author: login,
    runs: () => null,
    stop: async () => {
      await call('DELETE', `/repos/${repo.id}?remove=true`).catch(() => undefined);
    },
  };
}

function woodpeckerFile(image: string): Readonly<Record<string, string>> {
  const text = `when:
  - event: push
    branch: '${stagingPattern(DEFAULT_SERVICE_NAME)}'
steps:
  - name: tests
    image: ${image}
    commands:
      - node ${TEST_PROGRAM}
`;
  return { [`.woodpecker/${WORKFLOW}.yaml`]: text };
}
