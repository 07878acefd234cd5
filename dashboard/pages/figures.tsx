import type { ResultOf } from '#core/contracts/routes/client.ts';
import { useFanoutAdvice, useFigures } from '../data/hooks.ts';
import { Loading } from '../parts/frame/basics.tsx';
import { Problem } from '../parts/frame/errors.tsx';
import { RepoFrame } from '../parts/frame/repo-frame.tsx';
import { describeAdvice, REPLAY_ASSUMES } from '../view/advice.ts';
import { showDuration, showNumber, showPercent } from '../view/format.ts';

type Figures = ResultOf<'readFigures'>;
type Week = Figures['weeks'][number];

/** The weeks of one branch: the parts of the time in the queue, gate runs, flakes and bounces. */
export function FiguresPage({ id }: { readonly id: string }) {
  return (
    <RepoFrame id={id} tab="statistics">
      {() => (
        <>
          <FiguresOf id={id} />
          <AdviceOf id={id} />
        </>
      )}
    </RepoFrame>
  );
}

function FiguresOf({ id }: { readonly id: string }) {
  const { data, error } = useFigures(id);
  if (data === undefined)
    return error === null ? <Loading what="the statistics" /> : <Problem error={error} />;
  return (
    <>
      <section className="panel" aria-labelledby="weeks-title">
        <h2 id="weeks-title">By week</h2>
        <p className="hint">
          Weeks begin on Monday in UTC; the first one is under way. Times are medians, with the 95th
          percentile in brackets. A figure that no stored row tells exactly is Unknown.
        </p>
        {data.weeks.length === 0 ? (
          <p>There are more rows than can be counted exactly.</p>
        ) : (
          <WeekTable weeks={data.weeks.toReversed()} />
        )}
      </section>
      <section className="panel" aria-labelledby="flaky-title">
        <h2 id="flaky-title">When the gate flakes</h2>
        {data.flaky_windows.length === 0 ? (
          <p className="hint">No tree failed in one gate run and passed in another.</p>
        ) : (
          <ul>
            {data.flaky_windows.map((window) => (
              <li key={window.from_hour}>
                {`${window.from_hour}:00 to ${window.to_hour}:00 UTC: ${window.flaky} of ${window.judged} gate runs failed on a tree that another one passed`}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

/** Asked by itself, so that the figures do not wait for it. */
function AdviceOf({ id }: { readonly id: string }) {
  const { data, error } = useFanoutAdvice(id);
  return (
    <section className="panel" aria-labelledby="fanout-title">
      <h2 id="fanout-title">Gate runs at once</h2>
      {data !== undefined ? (
        <>
          <p>{describeAdvice(data)}</p>
          {data.replays.length > 0 && <ReplayTable advice={data} />}
          <p className="hint">{REPLAY_ASSUMES}</p>
        </>
      ) : error === null ? (
        <Loading what="the replay" />
      ) : (
        <Problem error={error} />
      )}
    </section>
  );
}

function ReplayTable({ advice }: { readonly advice: ResultOf<'readFanoutAdvice'> }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Gate runs at once</th>
          {['Median wait', '95th percentile', 'Mean', 'Gate runs', 'Landed'].map((name) => (
            <th key={name} scope="col" className="num">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {advice.replays.map(({ fanout, wait, runs, landed }) => (
          <tr key={fanout}>
            <th scope="row">
              {fanout}
              {fanout === advice.current && ' (set)'}
              {fanout === advice.advised && ' (advised)'}
            </th>
            <td className="num">{showDuration(wait.p50_seconds)}</td>
            <td className="num">{showDuration(wait.p95_seconds)}</td>
            <td className="num">{showDuration(wait.mean_seconds)}</td>
            <td className="num">{showNumber(runs)}</td>
            <td className="num">{showNumber(landed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const COLUMNS: readonly (readonly [name: string, show: (week: Week) => string])[] = [
  ['Landed', ({ landed }) => showNumber(landed)],
  ['Bounced', ({ bounced }) => showNumber(bounced)],
  ['Waiting', (week) => showSpread(week, week.waiting)],
  ['Gate', (week) => showSpread(week, week.gate)],
  ['Merging', (week) => showSpread(week, week.merging)],
  ['Gate runs', ({ runs }) => showNumber(runs)],
  ['Runs saved', ({ runs_saved }) => showNumber(runs_saved)],
  ['Runs spent on bounces', ({ bounce_runs }) => showNumber(bounce_runs)],
  ['Failures that were flakes', showFlakes],
];

function showSpread({ landed }: Week, { p50_seconds, p95_seconds }: Week['gate']): string {
  if (landed === 0) return 'none landed';
  if (p50_seconds === null) return 'Unknown';
  return `${showDuration(p50_seconds)} (${showDuration(p95_seconds)})`;
}

function showFlakes({ failed_trees, flaky_trees }: Week): string {
  if (failed_trees === 0) return 'no failure';
  return `${flaky_trees} of ${failed_trees}, ${showPercent(Math.round((flaky_trees / failed_trees) * 1000) / 10)}`;
}

function WeekTable({ weeks }: { readonly weeks: readonly Week[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways is reached by the keyboard.
    <section className="table-scroll" aria-label="Figures by week" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Week of</th>
            {weeks.map(({ week }) => (
              <th key={week} scope="col" className="num">
                {week.slice(0, 10)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {COLUMNS.map(([name, show]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {weeks.map((week) => (
                <td key={week.week} className="num">
                  {show(week)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
