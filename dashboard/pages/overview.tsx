import { Link } from 'wouter';
import { useActivity, useNow, useQueueStatus } from '../data/hooks.ts';
import {
  Ago,
  ButtonLink,
  Empty,
  Foreign,
  Loading,
  Outward,
  PageHead,
  useTitle,
} from '../parts/frame/basics.tsx';
import { ProblemPage } from '../parts/frame/errors.tsx';
import { hostOf } from '../parts/frame/repo-frame.tsx';
import { Mark, Signal } from '../parts/frame/signal.tsx';
import { Stale } from '../parts/frame/stale.tsx';
import { PullLink } from '../parts/queue/pull-link.tsx';
import { path } from '../routes.ts';
import {
  type ActivityDoc,
  findBlocker,
  type RepoActivity,
  type StatusEntry,
  sayTimes,
} from '../view/blocker.ts';
import { plural, pullUrl } from '../view/format.ts';
import { sayBounce, sayReason, wordOfEvent } from '../view/words.ts';

/** An event is a line, two at most. */
const EVENT_TITLE_CHARS_MAX = 90;

/** All repositories at a glance, and what happened last. */
export function OverviewPage() {
  useTitle('Repositories');
  const status = useQueueStatus();
  const feed = useActivity();
  if (status.data === undefined || feed.data === undefined) {
    const error = status.error ?? feed.error;
    if (error === null) return <Loading what="your repositories" />;
    return (
      <ProblemPage
        error={error}
        onRetry={() => {
          void status.refetch();
          void feed.refetch();
        }}
      />
    );
  }
  const { repos } = status.data;
  if (repos.length === 0) return <Welcome />;
  const activities = new Map(feed.data.repos.map((each) => [each.repo_id, each]));
  return (
    <>
      <PageHead title="Repositories">
        <ButtonLink to={path.start()} kind="main">
          Add repositories
        </ButtonLink>
      </PageHead>
      <Stale readings={[status, feed]} />
      <ul className="yard">
        {repos.map((repo) => (
          <RepoRow key={repo.id} repo={repo} activity={activities.get(repo.id)} />
        ))}
      </ul>
      <Recent feed={feed.data} />
    </>
  );
}

function RepoRow({
  repo,
  activity,
}: {
  readonly repo: StatusEntry;
  readonly activity: RepoActivity | undefined;
}) {
  const now = useNow();
  const blocker = activity === undefined ? null : findBlocker(activity, repo);
  const times = blocker === null ? '' : sayTimes(blocker, now);
  const line = activity?.queue?.line ?? null;
  return (
    <li className="yard-row">
      <Signal tone={blocker?.tone ?? 'unknown'} />
      <div className="yard-main">
        <Link href={path.queue(repo.id)} className="yard-name">
          <Foreign text={repo.name} />
        </Link>
        <p className="yard-facts">
          <span className="branch">{repo.base_branch}</span>
          <span>{hostOf(repo.instance_url)}</span>
        </p>
      </div>
      <p className="yard-why">
        {blocker?.text ?? 'Unknown'}
        {times !== '' && <span className="yard-times">{times}</span>}
      </p>
      <p className="yard-count">
        {line === null ? 'Queue unknown' : sayCount(line, activity?.queue?.line_more ?? 0)}
      </p>
    </li>
  );
}

/** A bounced pull request is shown until its author acts, and is not in the queue. */
function sayCount(line: readonly { readonly state: string }[], more: number): string {
  const bounced = line.filter(({ state }) => state === 'bounced').length;
  const queued = line.length - bounced + more;
  const count = queued === 0 ? 'The queue is empty' : `${plural(queued, 'pull request')} in the queue`;
  return bounced === 0 ? count : `${count}; ${bounced} bounced`;
}

function Recent({ feed }: { readonly feed: ActivityDoc }) {
  return (
    <section className="panel">
      <h2>What happened last</h2>
      {feed.recent_activity.length === 0 ? (
        <p className="hint">Nothing yet.</p>
      ) : (
        <Events events={feed.recent_activity} repos={feed.repos} />
      )}
      {feed.recent_activity_truncated && (
        <p className="hint">
          The newest {feed.recent_activity.length}; older ones are kept, but not shown here.
        </p>
      )}
    </section>
  );
}

export function Events({
  events,
  repos,
  withRepo = true,
}: {
  readonly events: ActivityDoc['recent_activity'];
  readonly repos: readonly RepoActivity[];
  readonly withRepo?: boolean;
}) {
  return (
    <ol className="events">
      {events.map((event) => {
        const word = wordOfEvent(event.event, event.reason);
        const repo = repos.find((each) => each.repo_id === event.repo_id);
        const isShared = repos.some((each) => each.repo_slug === event.repo_slug && each !== repo);
        const reason = (event.event === 'pr_bounced' ? sayBounce : sayReason)(event.reason);
        return (
          <li key={`${event.timestamp} ${event.repo_id} ${event.pr} ${event.event}`}>
            <Mark tone={word.tone} />
            <span className="event-what">
              {repo === undefined ? (
                <Outward href={pullUrl(event.instance_url, event.repo_slug, event.pr)}>#{event.pr}</Outward>
              ) : (
                <PullLink repoId={repo.repo_id} pr={event.pr} />
              )}{' '}
              <Foreign text={event.title} most={EVENT_TITLE_CHARS_MAX} /> <strong>{word.name}</strong>
              {reason !== null && <span className="event-why"> {reason}</span>}
            </span>
            {withRepo && (
              <span className="event-where">
                {repo === undefined ? (
                  <Foreign text={event.repo_slug} />
                ) : (
                  <Link href={path.queue(repo.repo_id)}>{event.repo_slug}</Link>
                )}
                {isShared && event.instance_url !== null && (
                  <span className="hint"> on {hostOf(event.instance_url)}</span>
                )}
              </span>
            )}
            <Ago iso={event.timestamp} />
          </li>
        );
      })}
    </ol>
  );
}

/** The first thing a new tenant sees: what will happen, in three actions. */
function Welcome() {
  return (
    <>
      <PageHead
        title="Let the first pull request through"
        lead='Three actions, about five minutes. After that people press "Auto merge when all checks succeed" on the forge, and nothing else.'
      />
      <ol className="three">
        <li>
          <h2>Connect your forge</h2>
          <p>Paste a bot's access token once. It is checked, encrypted, and never shown again.</p>
        </li>
        <li>
          <h2>Pick repositories</h2>
          <p>Choose from what the bot can see.</p>
        </li>
        <li>
          <h2>Merge the setup pull request</h2>
          <p>It adds one workflow file: your tests, run once per batch.</p>
        </li>
      </ol>
      <ButtonLink to={path.start()} kind="main">
        Begin
      </ButtonLink>
      <Empty title="What you get">
        <p>
          Scheduled pull requests are staged together, tested once, and landed one by one, each with a receipt
          that names the gate run which proved it. A failing batch is searched for its culprit, and only the
          culprit is bounced.
        </p>
      </Empty>
    </>
  );
}
