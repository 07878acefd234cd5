import type { JobRecord, OtherCi, RepoRecord, RunRecord, RunStatus } from '../model.ts';
import { postStatus } from '../world/statuses.ts';
import { slugOf, type World } from '../world.ts';

/** The account whose token the CI has: of Woodpecker who enabled the repository, of Jenkins its credentials. */
export const CI_LOGIN = 'ci-bot';

type Words = Readonly<Record<RunStatus, readonly [state: string, description: string]>>;

/** Woodpecker, `server/forge/common/status.go` and `getStatus` of its forges: one status for each workflow. */
const WOODPECKER: Words = {
  waiting: ['pending', 'Pipeline is pending'],
  running: ['pending', 'Pipeline is running'],
  success: ['success', 'Pipeline was successful'],
  failure: ['failure', 'Pipeline failed'],
  cancelled: ['failure', 'Pipeline was canceled'],
  error: ['error', 'Pipeline failed'],
};

/** Jenkins, `GiteaNotifier.java` of its Gitea plugin: one status for each build, whatever it consists of. */
const JENKINS: Words = {
  waiting: ['pending', 'Build started...'],
  running: ['pending', 'Build started...'],
  success: ['success', 'This commit looks good'],
  failure: ['failure', 'There was a failure building this commit'],
  cancelled: ['error', 'Something is wrong with the build of this commit'],
  error: ['error', 'Something is wrong with the build of this commit'],
};

/** Contexts that the stand-in posts for a pipeline of these jobs. */
export function contextsOf(ci: OtherCi, slug: string, jobs: readonly string[]): readonly string[] {
  return ci === 'woodpecker' ? jobs.map((job) => `ci/woodpecker/push/${job}`) : [`${slug}/pipeline/head`];
}

/** Posts what the CI would say of this job, or of the build that it is part of. */
export function postAsOtherCi(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  job: JobRecord,
  ci: OtherCi,
): void {
  const slug = slugOf(repo);
  if (ci === 'woodpecker') {
    const [state, description] = WOODPECKER[job.status];
    const [context = ''] = contextsOf(ci, slug, [job.name]);
    const targetUrl = `https://ci.example.org/repos/${repo.id}/pipeline/${run.index}/${run.jobs.indexOf(job) + 1}`;
    return void postStatus(world, repo, run.sha, { state, description, context, targetUrl }, CI_LOGIN);
  }
  const status = statusOfBuild(run.jobs.map((each) => each.status));
  const [state, description] = JENKINS[status];
  const [context = ''] = contextsOf(ci, slug, []);
  const targetUrl = `https://jenkins.example.org/job/${slug}/${run.index}/display/redirect`;
  postStatus(world, repo, run.sha, { state, description, context, targetUrl }, CI_LOGIN);
}

const WORST_FIRST: readonly RunStatus[] = ['running', 'waiting', 'failure', 'error', 'cancelled'];

function statusOfBuild(jobs: readonly RunStatus[]): RunStatus {
  return WORST_FIRST.find((status) => jobs.includes(status)) ?? 'success';
}
