import { Link } from 'wouter';
import { useActivity, useQueueStatus } from '../../data/hooks.ts';
import { path } from '../../routes.ts';
import { type ActivityDoc, findBlocker, type RepoActivity, type StatusEntry } from '../../view/blocker.ts';
import { fanoutOf, sayFanout } from '../../view/fanout.ts';
import { safeUrl } from '../../view/format.ts';
import type { Tone } from '../../view/tone.ts';
import { Foreign, Loading, Outward, useTabIcon, useTitle } from './basics.tsx';
import { Stale } from './stale.tsx';
import { ListProblemPage } from './wrong-address.tsx';

export interface RepoView {
  readonly repo: StatusEntry;
  readonly activity: RepoActivity;
  readonly feed: ActivityDoc;
}

const TABS = [
  { key: 'queue', name: 'Queue', to: path.queue },
  { key: 'batches', name: 'Batches', to: path.batches },
  { key: 'statistics', name: 'Statistics', to: path.figures },
  { key: 'setup', name: 'Setup', to: path.setup },
  { key: 'settings', name: 'Settings', to: path.settings },
] as const;

/** The frame of the pages of one repository: its name, its tabs, and both readings of it. */
export function RepoFrame({
  id,
  tab,
  title = tab ?? '',
  before = null,
  children,
}: {
  readonly id: string;
  /** Older batches than the newest. */
  readonly before?: string | null;
  /** Null: the page of one thing, under no tab. */
  readonly tab: (typeof TABS)[number]['key'] | null;
  /** For the title of the document. @default the tab */
  readonly title?: string;
  readonly children: (view: RepoView) => React.ReactNode;
}) {
  const status = useQueueStatus();
  const feed = useActivity(before);
  const repo = status.data?.repos.find((each) => each.id === id);
  const activity = feed.data?.repos.find((each) => each.repo_id === id);
  const where = repo === undefined ? 'Repository' : `${repo.name} on ${hostOf(repo.instance_url)}`;
  const tone = repo === undefined || activity === undefined ? null : blockerOf({ repo, activity }).tone;
  useTabIcon(tone);
  // One thing comes first: a narrow tab shows only the beginning.
  useTitle(`${sayTab(tone)}${tab === null ? `${title}, ${where}` : `${where}, ${title}`}`);
  const error = status.error ?? feed.error;
  const ready = status.data !== undefined && feed.data !== undefined;
  if (!ready) {
    if (error === null) return <Loading what="the queue" />;
    return (
      <ListProblemPage
        error={error}
        whole={{ to: path.batches(id), name: 'Newest batches' }}
        onRetry={() => {
          void status.refetch();
          void feed.refetch();
        }}
      />
    );
  }
  if (repo === undefined || activity === undefined) return <GoneRepo />;
  return (
    <>
      <header className="repo-head">
        <p className="crumb">
          <Link href={path.home()}>Repositories</Link>
        </p>
        <h1 tabIndex={-1}>
          <Foreign text={repo.name} />
        </h1>
        <p className="repo-facts">
          <span className="branch">{repo.base_branch}</span>
          <Outward href={safeUrl(`${repo.instance_url}/${repo.name}`)}>{hostOf(repo.instance_url)}</Outward>
          <span>{sayFanout(fanoutOf(repo), activity.queue?.fanout?.in_force)}</span>
        </p>
        <nav className="tabs" aria-label={`Pages of ${repo.name}`}>
          <ul>
            {TABS.map(({ key, name, to }) => (
              <li key={key}>
                <Link href={to(id)} aria-current={key === tab ? 'page' : undefined}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <Stale readings={[status, feed]} />
      {children({ repo, activity, feed: feed.data })}
    </>
  );
}

/** Only what a person should look at stands before the name. */
function sayTab(tone: Tone | null): string {
  if (tone === 'stop') return 'Stopped: ';
  return tone === 'unknown' ? 'Unknown: ' : '';
}

function GoneRepo() {
  return (
    <div className="problem-page">
      <div>
        <h1 tabIndex={-1}>This repository was not found</h1>
        <p className="lead">It was removed from the queue, or it belongs to another account.</p>
        <Link className="button button-main" href={path.home()}>
          Overview
        </Link>
      </div>
    </div>
  );
}

export function hostOf(instanceUrl: string): string {
  try {
    const { host, pathname } = new URL(instanceUrl);
    // Several forges may stand on one host, each below a path of its own.
    return `${host}${pathname === '/' ? '' : pathname}`;
  } catch {
    return instanceUrl;
  }
}

export function blockerOf(view: Pick<RepoView, 'repo' | 'activity'>) {
  return findBlocker(view.activity, view.repo);
}
