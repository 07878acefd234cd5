import type { RepoDriver } from './subject.ts';

/** By the bot, as a merge commit. */
export async function schedulePull(repo: RepoDriver, pr: number, head: string): Promise<void> {
  const body = {
    Do: 'merge',
    merge_when_checks_succeed: true,
    head_commit_id: head,
    force_merge: false,
    delete_branch_after_merge: false,
  };
  // 405 while the forge checks it, which may be once more.
  const status = await repo.until(
    async () => (await repo.api('bot', 'POST', `/pulls/${pr}/merge`, body)).status,
    (found) => found !== 405,
  );
  expect(status).toBe(201);
}

/** A rule that asks for the queue's context, and lets people push. */
export async function requireContext(repo: RepoDriver, branch = 'main'): Promise<void> {
  await repo.must('bot', 'POST', '/branch_protections', {
    rule_name: branch,
    enable_push: true,
    enable_status_check: true,
    status_check_contexts: ['mq'],
  });
}
