import { Link } from 'wouter';
import { ApiError } from '#core/contracts/routes/client.ts';
import { useNow, usePull } from '../data/hooks.ts';
import { Ago, Empty, Foreign, Loading, Outward } from '../parts/frame/basics.tsx';
import { ProblemPage } from '../parts/frame/errors.tsx';
import { blockerOf, RepoFrame, type RepoView } from '../parts/frame/repo-frame.tsx';
import { Mark, Signal } from '../parts/frame/signal.tsx';
import { Stale } from '../parts/frame/stale.tsx';
import { Attempts } from '../parts/queue/attempts.tsx';
import { GateRun } from '../parts/queue/gate-run.tsx';
import { PullLinks } from '../parts/queue/pull-link.tsx';
import { ReceiptList } from '../parts/queue/receipt.tsx';
import { path } from '../routes.ts';
import {
  pullUrl,
  secondsBetween,
  shortSha,
  showClock,
  showDuration,
  showFullTime,
  showPart,
} from '../view/format.ts';
import {
  countPassed,
  findTrouble,
  type PullStory,
  sayEstimate,
  sayStanding,
  sayTold,
  sayTurn,
  toneOfTold,
} from '../view/pull.ts';
import { sayVerdict, wordOfEvent } from '../view/words.ts';

const HISTORY_SHOWN_MAX = 50;
const NUMBER = /^[1-9]\d{0,8}$/;

/** The story of one pull request: where it stands, whose turn it is, and how it came there. */
export function PullPage({ id, number }: { readonly id: string; readonly number: string }) {
  const pr = NUMBER.test(number) ? Number(number) : null;
  const story = usePull(id, pr);
  const state = story.data === undefined ? '' : `, ${sayStanding(story.data).toLowerCase()}`;
  return (
    <RepoFrame id={id} tab={null} title={`#${number}${state}`}>
      {(view) => {
        if (pr === null || isUnknown(story.error))
          return <NothingKnown view={view} number={number} pr={pr} />;
        if (story.data !== undefined)
          return (
            <>
              <Stale readings={[story]} what="This story" />
              <Story story={story.data} view={view} />
            </>
          );
        if (story.error === null) return <Loading what={`the story of #${pr}`} />;
        return <ProblemPage error={story.error} onRetry={() => void story.refetch()} />;
      }}
    </RepoFrame>
  );
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_found';
}

function NothingKnown({
  view,
  number,
  pr,
}: {
  readonly view: RepoView;
  readonly number: string;
  readonly pr: number | null;
}) {
  const { repo } = view;
  if (pr === null) {
    return (
      <Empty title="This is no number of a pull request">
        <p>
          <Link href={path.queue(repo.id)}>Back to the queue</Link>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title={`The queue knows nothing of #${number}`}>
      <p>
        It does not wait, and the newest records of this repository do not name it: it was never scheduled, or
        that was long ago. Press <em>Auto merge when all checks succeed</em> on it, and it joins the queue.
      </p>
      <p className="row">
        <Outward href={pullUrl(repo.instance_url, repo.name, pr)}>#{pr} on the forge</Outward>
        <Link href={path.queue(repo.id)}>Back to the queue</Link>
      </p>
    </Empty>
  );
}

function Story({ story, view }: { readonly story: PullStory; readonly view: RepoView }) {
  const { repo } = view;
  return (
    <>
      <div className="pull-head">
        <h2>
          #{story.number} <Foreign text={story.title ?? '(title unknown)'} />
        </h2>
        <Outward href={pullUrl(repo.instance_url, repo.name, story.number)}>On the forge</Outward>
      </div>
      <Standing story={story} view={view} />
      <Facts story={story} repoId={repo.id} />
      <History story={story} />
      <Attempts story={story} repoId={repo.id} />
      <SettingsChange story={story} />
      <Backports story={story} />
      {story.receipts.length > 0 && (
        <ReceiptList
          receipts={story.receipts.map((receipt) => ({ pr: story.number, receipt }))}
          repoId={repo.id}
          instanceUrl={repo.instance_url}
          slug={repo.name}
        />
      )}
    </>
  );
}

/** Where it stands, why, and the next step. */
function Standing({ story, view }: { readonly story: PullStory; readonly view: RepoView }) {
  const { now, batch } = story;
  const { repo, activity } = view;
  const clock = useNow();
  const trouble = findTrouble(story, blockerOf(view));
  const tone = trouble?.tone ?? toneOfTold(now);
  return (
    <section className={`verdict tone-${tone}`} aria-label="Where it stands">
      <Signal tone={tone} size="large" />
      <div className="verdict-words">
        <div aria-live="polite">
          <p className="verdict-text">
            {sayStanding(story, countPassed(story.number, activity.queue?.line ?? []))}
          </p>
          <p>{sayTold(now)}.</p>
          {trouble !== null && (
            <p>
              <strong>The queue itself:</strong> {trouble.text}.{' '}
              <Link href={path.queue(repo.id)}>See the queue</Link>
            </p>
          )}
          {now.next !== null && trouble === null && (
            <p>
              <strong>Next:</strong> {now.next}
            </p>
          )}
        </div>
        <p className="verdict-foot">
          {now.since !== null && (
            <span title={showFullTime(now.since)}>
              since {showClock(now.since, clock)} ({showDuration(secondsBetween(now.since, clock))})
            </span>
          )}
          {now.turn === 'author' && batch?.gate_verdict === 'failure' && batch.run_url !== null && (
            <GateRun href={batch.run_url} prs={batch.prs}>
              Failing gate run
            </GateRun>
          )}
          {now.until !== null && Date.parse(now.until) > clock && (
            <span>looked at again at {showClock(now.until, clock)}</span>
          )}
        </p>
      </div>
    </section>
  );
}

function Facts({ story, repoId }: { readonly story: PullStory; readonly repoId: string }) {
  const { batch, now } = story;
  const isRunning = story.attempts.some(
    ({ run_id, node_id, outcome }) =>
      run_id === batch?.run_id && node_id === batch.node_id && outcome === 'running',
  );
  const estimate = sayEstimate(story);
  return (
    <section className="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">At a glance</h2>
      <dl className="facts">
        <dt>Whose turn</dt>
        <dd>{sayTurn(now)}</dd>
        {estimate !== null && (
          <>
            <dt>Time to land</dt>
            <dd>{estimate}</dd>
          </>
        )}
        {story.forecast != null && (
          <>
            <dt>Forecast</dt>
            <dd>{story.forecast}</dd>
          </>
        )}
        {now.fault !== null && toneOfTold(now) === 'stop' && (
          <>
            <dt>Caused by the change</dt>
            <dd>{now.fault ? 'yes' : 'no'}</dd>
          </>
        )}
        {batch !== null && (
          <>
            <dt>{isRunning ? 'Batch' : 'Last batch'}</dt>
            <dd>
              <Link href={path.batch(repoId, batch.run_id, batch.node_id)}>{showPart(batch.node_id)}</Link>
              {batch.prs.length > 0 && (
                <>
                  {' '}
                  of <PullLinks repoId={repoId} prs={batch.prs} />
                </>
              )}
            </dd>
            <dt>Gate run</dt>
            <dd>
              {batch.run_url === null ? (
                'none seen'
              ) : (
                <GateRun href={batch.run_url} prs={batch.prs}>
                  Open the gate run
                </GateRun>
              )}
            </dd>
            <dt>Verdict</dt>
            <dd>{sayVerdict(batch.gate_verdict, isRunning)}</dd>
            <dt>Tree of the batch</dt>
            <dd>{batch.tree === null ? 'none' : <code>{shortSha(batch.tree)}</code>}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function History({ story }: { readonly story: PullStory }) {
  const { history } = story;
  const rest = history.length - HISTORY_SHOWN_MAX;
  return (
    <section className="panel" aria-labelledby="history-title">
      <h2 id="history-title">What happened</h2>
      {history.length === 0 ? (
        <p className="hint">Nothing in the newest records of this repository.</p>
      ) : (
        <ol className="events">
          {history.slice(0, HISTORY_SHOWN_MAX).map((entry) => {
            const word = wordOfEvent(entry.event, entry.code);
            return (
              <li key={`${entry.timestamp} ${entry.event} ${entry.code}`}>
                <Mark tone={word.tone} />
                <span className="event-what">
                  <strong>{`${word.name.charAt(0).toUpperCase()}${word.name.slice(1)}`}</strong>
                  <span className="event-why">
                    {' '}
                    {sayTold(entry)}, at head <code>{shortSha(entry.head)}</code>
                  </span>
                </span>
                <Ago iso={entry.timestamp} />
              </li>
            );
          })}
        </ol>
      )}
      {rest > 0 && (
        <p className="hint">
          The newest {HISTORY_SHOWN_MAX} of {history.length}; older ones are not shown.
        </p>
      )}
    </section>
  );
}

/** The change of the settings by the file in it, which holds once it has landed. */
function SettingsChange({ story }: { readonly story: PullStory }) {
  if (story.settings_file === null) return null;
  return (
    <section className="panel" aria-labelledby="settings-title">
      <h2 id="settings-title">Changes settings of the queue once it lands</h2>
      <p>
        <Foreign text={story.settings_file} />
      </p>
    </section>
  );
}

/** Where its labels asked it to be carried, and the next step of each. */
function Backports({ story }: { readonly story: PullStory }) {
  if (story.backports.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="backports-title">
      <h2 id="backports-title">Backports</h2>
      <ul>
        {story.backports.map(({ branch, says, next }) => (
          <li key={branch}>
            <Foreign text={says} />.{next !== null && <> Next: {next}.</>}
          </li>
        ))}
      </ul>
    </section>
  );
}
