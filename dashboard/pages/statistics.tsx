import { useActivity } from '../data/hooks.ts';
import { Loading, PageHead, useTitle } from '../parts/frame/basics.tsx';
import { Against, DayTable, Share, WeekChart } from '../parts/frame/charts.tsx';
import { ProblemPage } from '../parts/frame/errors.tsx';
import { Stale } from '../parts/frame/stale.tsx';
import type { ActivityDoc } from '../view/blocker.ts';
import { plural, showDuration, showNumber, showPercent } from '../view/format.ts';

/** The week in figures: exact, or Unknown. */
export function StatisticsPage() {
  useTitle('Statistics');
  const feed = useActivity();
  if (feed.data === undefined) {
    return feed.error === null ? (
      <Loading what="the statistics" />
    ) : (
      <ProblemPage error={feed.error} onRetry={() => void feed.refetch()} />
    );
  }
  const { stats } = feed.data;
  const { runs_saved: saved, week_runs: runs } = stats;
  const otherwise = saved === null || runs === null ? null : saved + runs;
  return (
    <>
      <PageHead
        title="Statistics"
        lead="The last seven days over all your repositories. A figure that cannot be counted exactly is Unknown, never zero."
      />
      <Stale readings={[feed]} />
      <section className="panel" aria-label="By day">
        <div className="chart-pair">
          <div>
            <h2>Landed and bounced</h2>
            <WeekChart
              days={stats.days}
              series={[
                { key: 'landed', name: 'landed' },
                { key: 'bounced', name: 'bounced' },
              ]}
            />
          </div>
          <div>
            <h2>Gate runs</h2>
            <WeekChart days={stats.days} series={[{ key: 'runs', name: 'gate runs started' }]} />
          </div>
        </div>
        <DayTable days={stats.days} />
        <p className="hint">
          Days in UTC, today the last. The figures below begin 168 hours ago, within the day before the first
          of these.
        </p>
      </section>
      <div className="figures">
        <Figure name="Landed today" value={showNumber(stats.today_merges)} note="since midnight UTC" />
        <Figure
          name="Landed this week"
          value={showNumber(stats.week_merges)}
          note={
            stats.week_bounces === null
              ? 'how many were bounced is unknown'
              : `${showNumber(stats.week_bounces)} bounced`
          }
        />
        <Figure
          name="Success rate"
          value={showPercent(stats.merge_success_rate)}
          note="landed, of all that landed or were bounced"
        >
          <Share percent={stats.merge_success_rate} />
        </Figure>
        <Figure
          name="Superseded parts of batches"
          value={showPercent(stats.restage_rate)}
          note={saySuperseded(stats)}
        >
          <Share percent={stats.restage_rate} />
        </Figure>
        <Figure
          name="Time in the queue, median"
          value={showDuration(stats.time_in_queue_p50_seconds)}
          note="half of all waited no longer"
        />
        <Figure
          name="Time in the queue, 95th percentile"
          value={showDuration(stats.time_in_queue_p95_seconds)}
          note="95 of 100 waited no longer"
        />
        <Figure
          name="Gate runs per landed pull request"
          value={showNumber(stats.runs_per_landed)}
          note={runs === null ? 'Unknown' : plural(runs, 'gate run')}
        />
        <Figure
          name={saved !== null && saved < 0 ? 'Gate runs spent on top' : 'Gate runs saved'}
          value={showNumber(saved === null ? null : Math.abs(saved))}
          note="against one gate run for each pull request"
        >
          <Against spent={runs} otherwise={otherwise} />
        </Figure>
      </div>
    </>
  );
}

/** Rows of the search are counted, of which one batch may have many. */
function saySuperseded({ week_superseded: needless, week_batches: all }: ActivityDoc['stats']): string {
  if (needless === null || all === null) return 'Unknown';
  return `${showNumber(needless)} of ${plural(all, 'part')}: the result of another gate run decided`;
}

function Figure({
  name,
  value,
  note,
  children,
}: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly children?: React.ReactNode;
}) {
  return (
    <section className="figure" aria-label={name}>
      <h3>{name}</h3>
      <p className={`figure-value ${value === 'Unknown' ? 'figure-unknown' : ''}`}>{value}</p>
      {children}
      <p className="hint">{note}</p>
    </section>
  );
}
