import { Link } from 'wouter';
import { ApiError } from '#core/contracts/routes/client.ts';
import { useChange, useNow } from '../data/hooks.ts';
import { Ago, Button, Empty, Foreign, Outward } from '../parts/frame/basics.tsx';
import { Problem } from '../parts/frame/errors.tsx';
import { blockerOf, RepoFrame, type RepoView } from '../parts/frame/repo-frame.tsx';
import { Tag } from '../parts/frame/signal.tsx';
import { FindPull } from '../parts/queue/find-pull.tsx';
import { GateRun } from '../parts/queue/gate-run.tsx';
import { PullLink, PullLinks } from '../parts/queue/pull-link.tsx';
import { RepoHistory } from '../parts/queue/repo-history.tsx';
import { Verdict } from '../parts/queue/verdict.tsx';
import { Drifts } from '../parts/set-up/drifts.tsx';
import { path } from '../routes.ts';
import type { RepoActivity } from '../view/blocker.ts';
import { plural, secondsBetween, showClock, showDuration, showPulls } from '../view/format.ts';
import { sayGateTime, usualGateSeconds } from '../view/gate-time.ts';
import { needsPerson } from '../view/pull.ts';
import { type BatchTree, countParts, treesOf } from '../view/tree.ts';
import { sayPhase, sayReason, wordOfCi, wordOfPlace } from '../view/words.ts';

type Place = NonNullable<RepoActivity['queue']>['line'][number];

/** "Why is my pull request not merging?", answered from the top down. */
export function QueuePage({ id }: { readonly id: string }) {
  return (
    <RepoFrame id={id} tab="queue">
      {(view) => <Queue view={view} />}
    </RepoFrame>
  );
}

function Queue({ view }: { readonly view: RepoView }) {
  const { repo, activity } = view;
  const trees = treesOf(view);
  const running = trees.filter((tree) => tree.nodes.some(({ row }) => row.outcome === 'running'));
  const usualGate = usualGateSeconds(trees.flatMap(({ nodes }) => nodes.map(({ row }) => row)));
  return (
    <>
      <Verdict blocker={blockerOf(view)} repoId={repo.id} instanceUrl={repo.instance_url} slug={repo.name} />
      <Drifts activity={activity} />
      <div className="queue-grid">
        <section className="panel" aria-labelledby="line-title">
          <div className="panel-head">
            <h2 id="line-title">The queue</h2>
            <Seen activity={activity} />
          </div>
          <FindPull view={view} />
          <Line view={view} />
        </section>
        <div className="queue-side">
          <section className="panel" aria-labelledby="batch-title">
            <h2 id="batch-title">Running now</h2>
            {running.length === 0 ? (
              <p className="hint">{sayNoneShown(activity)}</p>
            ) : (
              running.map((tree) => (
                <RunningBatch key={tree.batchId} tree={tree} view={view} usualGate={usualGate} />
              ))
            )}
          </section>
          <GateFacts activity={activity} />
          <LookNow repoId={repo.id} enabled={repo.queue_enabled} />
          <RepoHistory view={view} />
        </div>
      </div>
    </>
  );
}

/** The page has the newest batches of all repositories: those of this one may be behind them. */
function sayNoneShown({ batch, state }: RepoActivity): string {
  if (batch.length > 0)
    return `Running with ${showPulls(batch.map(({ pr }) => pr))}: older than what is shown.`;
  return state === 'unknown' ? 'Unknown.' : 'No batch is running.';
}

/** The last word of CI, where it is staged, and when the queue last looked without trouble. */
function GateFacts({ activity }: { readonly activity: RepoActivity }) {
  const word = wordOfCi(activity.ci_status);
  return (
    <section className="panel" aria-labelledby="gate-title">
      <div className="panel-head">
        <h2 id="gate-title">The gate</h2>
        <Tag tone={word.tone}>{word.name}</Tag>
      </div>
      <dl className="facts">
        <dt>Gate run</dt>
        <dd>
          {activity.ci_url === null ? (
            'none seen'
          ) : (
            <Outward href={activity.ci_url}>Open the gate run</Outward>
          )}
        </dd>
        <dt>Staging branch</dt>
        <dd className="wrap">
          <code>{activity.staging_branch}</code>
        </dd>
        <dt>Last look without an error</dt>
        <dd>
          {activity.last_good_reconcile === null ? 'none yet' : <Ago iso={activity.last_good_reconcile} />}
        </dd>
      </dl>
    </section>
  );
}

const LOOKING: Readonly<Record<RepoActivity['lease_state'], string | null>> = {
  idle: null,
  held: 'the queue is looking at the forge now',
  unknown: 'whether it is looking now is unknown',
};

function Seen({ activity: { queue, lease_state: lease } }: { readonly activity: RepoActivity }) {
  const looking = LOOKING[lease];
  if (queue === null)
    return looking && <p className="hint">{`${looking.charAt(0).toUpperCase()}${looking.slice(1)}`}</p>;
  return (
    <p className="hint">
      As seen <Ago iso={queue.seen_at} />
      {looking && `; ${looking}`}
    </p>
  );
}

function Line({ view }: { readonly view: RepoView }) {
  const { repo, activity } = view;
  const { queue } = activity;
  if (queue === null) {
    return (
      <Empty title="Unknown">
        <p>
          The queue could not be read, or has not been looked at yet. It does not mean that no pull request
          waits.
        </p>
      </Empty>
    );
  }
  const needy = queue.line.filter(needsPerson);
  const moving = queue.line.filter((place) => !needsPerson(place));
  if (queue.line.length === 0) {
    return (
      <Empty title="The queue is empty">
        <p>
          Press <em>Auto merge when all checks succeed</em> on a pull request to{' '}
          <span className="branch">{repo.base_branch}</span>, and it joins here.
        </p>
      </Empty>
    );
  }
  return (
    <>
      {moving.length === 0 ? (
        <p className="hint">Nothing waits to be staged.</p>
      ) : (
        <ol className="rail" aria-label="Pull requests in order">
          <li className="rail-base" aria-hidden="true">
            <span className="branch">{repo.base_branch}</span>
          </li>
          {moving.map((place, index) => (
            <Station
              key={place.pr}
              place={place}
              view={view}
              coupled={isCoupled(place) && isCoupled(moving[index + 1])}
            />
          ))}
        </ol>
      )}
      {queue.line_more > 0 && (
        <p className="hint">
          {plural(queue.line_more, 'more pull request', 'more pull requests')} behind these.
        </p>
      )}
      {needy.length > 0 && (
        <>
          <h3>Needs a person first</h3>
          <ul className="rail rail-aside" aria-label="Pull requests that need a person">
            {needy.map((place) => (
              <Station key={place.pr} place={place} view={view} coupled={false} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function isCoupled(place: Place | undefined): boolean {
  return place?.state === 'staged' || place?.state === 'landing';
}

function Station({
  place,
  view,
  coupled,
}: {
  readonly place: Place;
  readonly view: RepoView;
  readonly coupled: boolean;
}) {
  const now = useNow();
  const word = wordOfPlace(place.state);
  const reason = sayReason(place.reason);
  return (
    <li
      className={`station tone-${word.tone} ${isCoupled(place) ? 'station-in' : ''} ${coupled ? 'station-coupled' : ''}`}
    >
      <span className="station-stop" aria-hidden="true" />
      <div className="station-body">
        <p className="station-name">
          <PullLink repoId={view.repo.id} pr={place.pr} /> <Foreign text={place.title} className="clamp" />
        </p>
        <p className="station-why">
          {reason ?? `${word.meaning}.`}
          {place.until !== null && ` Looked at again at ${showClock(place.until, now)}.`}
        </p>
      </div>
      <div className="station-end">
        {place.priority !== 'normal' && (
          <Tag tone={place.priority === 'incident' ? 'stop' : 'quiet'}>{place.priority}</Tag>
        )}
        <Tag tone={word.tone}>{word.name}</Tag>
        {place.state !== 'bounced' && (
          <span className="hint">in the queue for {showDuration(secondsBetween(place.queued_at, now))}</span>
        )}
      </div>
    </li>
  );
}

function RunningBatch({
  tree,
  view,
  usualGate,
}: {
  readonly tree: BatchTree;
  readonly view: RepoView;
  /** In seconds; null: not known yet. */
  readonly usualGate: number | null;
}) {
  const now = useNow();
  const running = tree.nodes.filter(({ row }) => row.outcome === 'running');
  const parts = countParts(tree);
  return (
    <div className="running">
      <p>
        <Link href={path.batch(view.repo.id, tree.batchId)} className="running-name">
          {parts > 0 ? `Split into ${plural(parts, 'part')}` : 'One batch'}: {showPulls(tree.root.prs)}
        </Link>
      </p>
      <ul className="running-nodes">
        {running.map(({ row }) => (
          <li key={row.id}>
            <Tag tone="busy">
              {row.prs.length === 0 ? 'base' : <PullLinks repoId={view.repo.id} prs={row.prs} most={4} />}
            </Tag>
            <span>{sayPhase(row.phase) ?? 'phase unknown'}</span>
            {row.attempt > 1 && <span>attempt {row.attempt}</span>}
            {row.run_url === null ? (
              <span className="hint">no gate run yet</span>
            ) : (
              <GateRun href={row.run_url} prs={row.prs} />
            )}
            <span className="hint">{sayGateTime(usualGate, row.created_at, now)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Another look is under way already: the request is being met. */
function isBusy(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'queue_locked';
}

function LookNow({ repoId, enabled }: { readonly repoId: string; readonly enabled: boolean }) {
  const look = useChange((api, id: string) => api.reconcileRepo({ id }), [['queue']]);
  const { data } = look;
  return (
    <section className="panel look" aria-label="Look at the forge now">
      <div className="row">
        <Button
          busy={look.isPending}
          disabled={!enabled}
          title={enabled ? undefined : 'The queue is switched off'}
          onClick={() => look.mutate(repoId)}
        >
          Look at the forge now
        </Button>
        {!enabled && <span className="hint">The queue is switched off.</span>}
      </div>
      {isBusy(look.error) ? (
        <p className="hint" role="status">
          It is being looked at right now; what comes of it shows here.
        </p>
      ) : (
        <Problem error={look.error} />
      )}
      {data !== undefined && (
        <div role="status">
          {data.reconcile.ok ? (
            <p className="hint">
              Looked at <Ago iso={data.reconcile.ran_at} />.
            </p>
          ) : (
            <p className="field-error">{data.reconcile.error ?? 'That failed.'}</p>
          )}
          {data.log_tail.length > 0 && (
            <details>
              <summary>What it did</summary>
              <pre className="log">{data.log_tail.join('\n')}</pre>
            </details>
          )}
        </div>
      )}
    </section>
  );
}
