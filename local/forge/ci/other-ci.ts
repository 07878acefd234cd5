import type { JobRecord, OtherCi, RepoRecord, RunRecord, RunStatus } from '../model.ts';
import { postStatus } from '../world/statuses.ts';
import { slugOf, type World } from '../world.ts';

/** The account whose token the CI has: of Woodpecker who enabled the repository, of Jenkins its credentials. */
export const CI_LOGIN = 'ci-bot';

type Post = readonly [state: string, description: string];
type Words = Readonly<Record<RunStatus, Post>>;

/** A build as links and contexts name it. */
interface Build {
  readonly slug: string;
  readonly branch: string;
  /** Number of the build, from 1. */
  readonly index: number;
  /** Place of the job in it, from 0. */
  readonly job: number;
  readonly status: RunStatus;
}

/** The ways of one CI: what it posts, under which context, with which link. */
export interface CiWays {
  /** One status for each job, or one for the build whatever it consists of. */
  readonly each: 'job' | 'build';
  readonly words: Words;
  contexts(slug: string, jobs: readonly string[]): readonly string[];
  link(build: Build): string;
}

/** Results of a Jenkins build, and the two states before there is one. */
const JENKINS_RESULTS = [
  'QUEUED',
  'STARTED',
  'SUCCESS',
  'UNSTABLE',
  'FAILURE',
  'NOT_BUILT',
  'ABORTED',
] as const;
export type JenkinsResult = (typeof JENKINS_RESULTS)[number];

/**
 * `GiteaNotifier.java` of its Gitea plugin: queued as the job enters the line, started at the start and once more at
 * the checkout, the result at the end. A forge before Gitea 1.25 gets `warning` for what was not built.
 */
export function postOfJenkins(result: JenkinsResult, knowsSkipped: boolean): Post {
  const posts: Readonly<Record<JenkinsResult, Post>> = {
    QUEUED: ['pending', 'Build queued...'],
    STARTED: ['pending', 'Build started...'],
    SUCCESS: ['success', 'This commit looks good'],
    UNSTABLE: ['warning', 'This commit is unstable'],
    FAILURE: ['failure', 'There was a failure building this commit'],
    NOT_BUILT: [knowsSkipped ? 'skipped' : 'warning', 'This commit was not built'],
    ABORTED: ['error', 'Something is wrong with the build of this commit'],
  };
  return posts[result];
}

/** Each CI that is played, in one table. */
export const CI_WAYS: Readonly<Record<OtherCi, CiWays>> = {
  // `server/forge/common/status.go` and `getStatus` of its forges.
  woodpecker: {
    each: 'job',
    words: {
      waiting: ['pending', 'Pipeline is pending'],
      running: ['pending', 'Pipeline is running'],
      success: ['success', 'Pipeline was successful'],
      failure: ['failure', 'Pipeline failed'],
      cancelled: ['failure', 'Pipeline was canceled'],
      error: ['error', 'Pipeline failed'],
      // Left out behind one that did not pass; a state without a word of its own.
      skipped: ['failure', 'unknown status'],
    },
    contexts: (_slug, jobs) => jobs.map((job) => `ci/woodpecker/push/${job}`),
    link: ({ slug, index, job }) =>
      `https://ci.example.org/repos/${encodeURIComponent(slug)}/pipeline/${index}/${job + 1}`,
  },
  jenkins: {
    each: 'build',
    words: {
      waiting: postOfJenkins('QUEUED', false),
      running: postOfJenkins('STARTED', false),
      success: postOfJenkins('SUCCESS', false),
      failure: postOfJenkins('FAILURE', false),
      cancelled: postOfJenkins('ABORTED', false),
      error: postOfJenkins('ABORTED', false),
      skipped: postOfJenkins('NOT_BUILT', false),
    },
    // The full name of the job without its last part, which is the branch; `head` for a branch.
    contexts: (slug) => [`${slug}/pipeline/head`],
    link: ({ slug, branch, index, status }) => {
      const job = ['https://jenkins.example.org', ...slug.split('/')].join('/job/');
      // The name of a branch job is escaped, and the address escapes that name again.
      const page = `${job}/job/${encodeURIComponent(encodeURIComponent(branch))}`;
      return `${page}${status === 'waiting' ? '' : `/${index}`}/display/redirect`;
    },
  },
};

/** Contexts that the stand-in posts for a pipeline of these jobs. */
export function contextsOf(ci: OtherCi, slug: string, jobs: readonly string[]): readonly string[] {
  return CI_WAYS[ci].contexts(slug, jobs);
}

/** Posts what the CI would say of this job, or of the build that it is part of. */
export function postAsOtherCi(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  job: JobRecord,
  ci: OtherCi,
): void {
  const ways = CI_WAYS[ci];
  const slug = slugOf(repo);
  const status = ways.each === 'job' ? job.status : statusOfBuild(run.jobs.map((each) => each.status));
  const [state, description] = ways.words[status];
  const [context = ''] = ways.contexts(slug, [job.name]);
  const { index, branch } = run;
  const targetUrl = ways.link({ slug, branch, index, job: run.jobs.indexOf(job), status });
  postStatus(world, repo, run.sha, { state, description, context, targetUrl }, CI_LOGIN);
}

const WORST_FIRST: readonly RunStatus[] = ['running', 'waiting', 'failure', 'error', 'cancelled', 'skipped'];

function statusOfBuild(jobs: readonly RunStatus[]): RunStatus {
  return WORST_FIRST.find((status) => jobs.includes(status)) ?? 'success';
}
