import { Secret } from '#core/secret.ts';
import { type Delivery, HookReceiver } from './hook-receiver.ts';
import { type ForgeSubject, type Needs, RepoDriver } from './subject.ts';

/** From event to due repo (D-34), as far as the forge has its hand in it. */
const WAKE_MS_MAX = 2_000;
/** A real forge on a busy machine takes its own time to send; this only tells a delivery from a poll. */
const WAKE_REAL_MS_MAX = 10_000;
const STAGING = 'mq/main/staging';

/** Deliveries from the forge's own sender to our route: registration, signature, what they say, rotation. */
export function webhooksSuite(subject: () => ForgeSubject, needs: Needs): void {
  const open: HookReceiver[] = [];
  afterEach(async () => {
    for (const receiver of open.splice(0)) await receiver.close();
  });

  async function register(files: Readonly<Record<string, string>> = {}) {
    const repo = await RepoDriver.create(subject(), files);
    const receiver = await HookReceiver.open(repo);
    open.push(receiver);
    return { repo, receiver };
  }

  /** The requests that came in, without their bodies. */
  const told = (receiver: HookReceiver) => receiver.deliveries.map(({ event, outcome }) => [event, outcome]);
  /** Forges deliver later than they push: a new hook may still hear of a push from before it. */
  const senderOf = (body: Buffer) => JSON.parse(body.toString('utf8')).sender?.login;
  const isPersonsPush = (repo: RepoDriver) => (delivery: Delivery) =>
    delivery.event === 'push' && senderOf(delivery.body) === repo.loginOf('person');
  const settle = async (times: number) => {
    for (let n = 0; n < times; n += 1) await subject().wait();
  };
  const hooked = needs('webhooks');

  hooked('a push to the base: signed, accepted, and the repo is due within two seconds', async () => {
    const { repo, receiver } = await register();
    const before = await receiver.repo();
    const head = await repo.commit('person', { 'a.txt': 'a\n' });
    const pushedAt = subject().now();
    const push = await receiver.next(isPersonsPush(repo));
    expect(push.outcome).toBe('wait_for_reconcile');
    const limit = subject().fake === null ? WAKE_REAL_MS_MAX : WAKE_MS_MAX;
    expect(push.at - pushedAt).toBeLessThanOrEqual(limit);
    const after = await receiver.repo();
    expect(after.wakeSeq).toBe(before.wakeSeq + 1);
    expect(after.dueAt).toBeLessThan(before.dueAt ?? 0);
    expect(JSON.parse(push.body.toString('utf8'))).toMatchObject({
      ref: 'refs/heads/main',
      after: head,
      repository: { full_name: repo.slug },
      sender: { login: repo.loginOf('person') },
    });
    expect(receiver.isSignedWith(push, await receiver.secret())).toBe(true);
    expect(receiver.isSignedWith(push, new Secret('another'))).toBe(false);
    expect(push.headers['x-github-event']).toBe('push');
    expect(push.headers['x-github-delivery']).toBe(push.headers['x-gitea-delivery']);
    expect(push.headers['content-type']).toMatch(/^application\/json/);
  });

  hooked('what people do to a pull request would change the queue', async () => {
    const { repo, receiver } = await register();
    const { pr } = await repo.openPull('person', 'one', { 'a.txt': 'a\n' });
    const actionOf = (body: Buffer) => JSON.parse(body.toString('utf8')).action;
    const opened = await receiver.next(({ event }) => event === 'pull_request');
    expect([actionOf(opened.body), opened.outcome]).toEqual(['opened', 'processed']);
    await repo.commit('person', { 'a.txt': 'b\n' }, { branch: 'one' });
    const pushed = await receiver.next(({ body }) => actionOf(body) === 'synchronized');
    expect([pushed.event, pushed.headers['x-gitea-event-type'], pushed.outcome]).toEqual([
      'pull_request',
      'pull_request_sync',
      'processed',
    ]);
    await repo.must('bot', 'POST', `/pulls/${pr}/reviews`, { event: 'APPROVED', body: 'fine' });
    const reviewed = await receiver.next(({ event }) => event === 'pull_request_approved');
    expect([actionOf(reviewed.body), reviewed.outcome]).toEqual(['reviewed', 'processed']);
    await repo.must('person', 'POST', `/issues/${pr}/comments`, { body: 'please' });
    const comment = await receiver.next(({ event }) => event === 'issue_comment');
    expect(comment.outcome).toBe('processed');
    await repo.must('person', 'PATCH', `/pulls/${pr}`, { state: 'closed' });
    const closed = await receiver.next(({ body }) => actionOf(body) === 'closed');
    expect(closed.outcome).toBe('processed');
  });

  hooked('what the queue itself does wakes no repository', async () => {
    const { repo, receiver } = await register();
    const { pr, head } = await repo.openPull('person', 'one', { 'a.txt': 'a\n' });
    await receiver.next(({ event }) => event === 'pull_request');
    await settle(4);
    receiver.deliveries.length = 0;
    const { wakeSeq } = await receiver.repo();
    await repo.forge.createBranch(STAGING, head);
    await repo.forge.postStatus(head, {
      state: 'pending',
      context: 'mq',
      description: 'staged',
      targetUrl: null,
    });
    await repo.must('bot', 'POST', `/issues/${pr}/comments`, { body: 'landing' });
    await repo.forge.deleteBranch(STAGING);
    await receiver.next(({ event }) => event === 'issue_comment');
    await settle(6);
    expect(receiver.deliveries.length).toBeGreaterThan(1);
    expect(told(receiver).filter(([, outcome]) => outcome !== 'ignored')).toEqual([]);
    expect((await receiver.repo()).wakeSeq).toBe(wakeSeq);
  });

  hooked('no event tells of a schedule or its end', async () => {
    const { repo, receiver } = await register();
    const { pr } = await repo.openPull('person', 'one', { 'a.txt': 'a\n' });
    await repo.untilMergeable(pr);
    // A busy forge sends them long after it has answered.
    await receiver.next(({ event }) => event === 'push');
    await receiver.next(({ event }) => event === 'pull_request');
    await settle(4);
    receiver.deliveries.length = 0;
    const body = { Do: 'merge', merge_when_checks_succeed: true };
    await repo.until(
      () => repo.api('person', 'POST', `/pulls/${pr}/merge`, body),
      ({ status }) => status === 201,
    );
    await repo.must('person', 'DELETE', `/pulls/${pr}/merge`);
    await settle(6);
    expect(told(receiver)).toEqual([]);
  });

  hooked('a new secret needs a new hook: an edit keeps the old one and resets the events', async () => {
    const { repo, receiver } = await register();
    const [hook] = await receiver.admin.listHooks();
    const first = await receiver.secret();
    const config = { url: hook?.url, content_type: 'json', secret: 'edited' };
    await repo.must('bot', 'PATCH', `/hooks/${hook?.id}`, { config });
    const edited = (await receiver.admin.listHooks())[0];
    expect(edited).toMatchObject({ branchFilter: '', active: true });
    // Forgejo leaves those of runs as they were, and one version of Gitea that of statuses.
    const isReset = (event: string) =>
      !event.startsWith('action_run_') && !(subject().facts.editKeepsStatusEvent && event === 'status');
    expect(edited?.events.filter(isReset)).toEqual(['push']);
    expect(edited?.events.includes('status')).toBe(subject().facts.editKeepsStatusEvent);
    const ofRuns = (events: readonly string[]) => events.filter((event) => event.startsWith('action_run_'));
    expect(ofRuns(edited?.events ?? []).sort()).toEqual(ofRuns(hook?.events ?? []).sort());
    await repo.commit('person', { 'a.txt': 'a\n' });
    const push = await receiver.next(isPersonsPush(repo));
    expect([receiver.isSignedWith(push, first), receiver.isSignedWith(push, new Secret('edited'))]).toEqual([
      true,
      false,
    ]);

    await receiver.register();
    const [replaced, ...others] = await receiver.admin.listHooks();
    expect(others).toEqual([]);
    expect(replaced?.id).not.toBe(hook?.id);
    expect(replaced?.events).toEqual(expect.arrayContaining(['push', 'pull_request', 'issue_comment']));
    receiver.deliveries.length = 0;
    await repo.commit('person', { 'a.txt': 'b\n' });
    const second = await receiver.next(isPersonsPush(repo));
    expect(second.outcome).toBe('wait_for_reconcile');
    const secret = await receiver.secret();
    expect([receiver.isSignedWith(second, secret), receiver.isSignedWith(second, first)]).toEqual([
      true,
      false,
    ]);
  });

  hooked('a delivery that is refused is not sent again', async () => {
    const { repo, receiver } = await register();
    receiver.answer = 409;
    await repo.commit('person', { 'a.txt': 'a\n' });
    await receiver.next(isPersonsPush(repo));
    await settle(10);
    expect(receiver.deliveries.filter(isPersonsPush(repo))).toHaveLength(1);
  });

  const hookedToRuns = hooked === test ? needs('runner') : hooked;
  hookedToRuns('the end of a gate run is news, where the forge tells of it', async () => {
    const { fake, workflowDir, tellsRuns } = subject();
    if (fake !== null) fake.knobs.judge = () => 'success';
    const workflow = [
      "on: { push: { branches: ['mq/**'] } }",
      'jobs:',
      '  check:',
      '    runs-on: docker',
      '    steps:',
      "      - run: 'true'",
      '',
    ].join('\n');
    const { repo, receiver } = await register({ [`${workflowDir}/gate.yml`]: workflow });
    const sha = await repo.forge.readBranchTip('main');
    await repo.forge.createBranch(STAGING, sha ?? '');
    if (!tellsRuns) {
      await repo.until(
        () => repo.forge.readGate(sha ?? '', STAGING, `${workflowDir}/gate.yml`),
        (gate) => gate.kind === 'finished',
      );
      await settle(4);
      // Gitea from 1.23 on tells of each status, and so of the end of a job.
      const isTold = ([event, outcome]: readonly string[]) => outcome !== 'ignored' && event !== 'status';
      expect(told(receiver).filter(isTold)).toEqual([]);
      return;
    }
    const run = await receiver.next(({ event }) => /^(action_run_success|workflow_run)$/.test(event));
    expect(run.outcome).toBe('wait_for_reconcile');
  });
}
