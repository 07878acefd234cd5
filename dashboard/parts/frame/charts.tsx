import { showNumber, UNKNOWN } from '../../view/format.ts';

export interface DayBar {
  readonly day: string;
  readonly landed: number | null;
  readonly bounced: number | null;
  readonly runs: number | null;
}

const WIDTH = 420;
const HEIGHT = 110;
const FLOOR = 90;

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' });
const weekdayOf = (day: string): string => WEEKDAY.format(Date.parse(day));

export interface Series {
  readonly key: 'landed' | 'bounced' | 'runs';
  readonly name: string;
}

/** Series on top of each other by day; a day that cannot be read is hatched, never empty. A table says the same. */
export function WeekChart({
  days,
  series,
}: {
  readonly days: readonly DayBar[];
  readonly series: readonly Series[];
}) {
  const step = WIDTH / Math.max(1, days.length);
  const top = Math.max(1, ...days.map((day) => series.reduce((sum, { key }) => sum + (day[key] ?? 0), 0)));
  const scale = (FLOOR - 14) / top;
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" focusable="false">
        <path className="chart-floor" d={`M0 ${FLOOR}.5H${WIDTH}`} />
        {days.map((day, index) => (
          <DayColumn key={day.day} day={day} series={series} x={index * step} step={step} scale={scale} />
        ))}
      </svg>
      <figcaption className="chart-legend">
        {series.map(({ key, name }) => (
          <span key={key} className={`key key-${key}`}>
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function DayColumn({
  day,
  series,
  x,
  step,
  scale,
}: {
  readonly day: DayBar;
  readonly series: readonly Series[];
  readonly x: number;
  readonly step: number;
  readonly scale: number;
}) {
  const wide = Math.min(34, step - 12);
  const left = x + (step - wide) / 2;
  const middle = x + step / 2;
  const isKnown = series.every(({ key }) => day[key] !== null);
  let sum = 0;
  const bars = series.map(({ key }) => {
    const value = day[key] ?? 0;
    sum += value;
    return { key, high: value * scale, top: FLOOR - sum * scale };
  });
  return (
    <g>
      {isKnown ? (
        bars.map(({ key, high, top }) => (
          <rect key={key} className={`chart-${key}`} x={left} y={top} width={wide} height={high} />
        ))
      ) : (
        <rect className="chart-unknown" x={left} y={FLOOR - 40} width={wide} height="40" />
      )}
      {(!isKnown || sum > 0) && (
        <text
          className="chart-value"
          x={middle}
          y={isKnown ? FLOOR - sum * scale - 4 : FLOOR - 16}
          textAnchor="middle"
        >
          {isKnown ? sum : '?'}
        </text>
      )}
      <text className="chart-label" x={middle} y={HEIGHT - 4} textAnchor="middle">
        {weekdayOf(day.day)}
      </text>
    </g>
  );
}

export function DayTable({ days }: { readonly days: readonly DayBar[] }) {
  return (
    <details className="chart-table">
      <summary>The same as a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col" className="num">
              Landed
            </th>
            <th scope="col" className="num">
              Bounced
            </th>
            <th scope="col" className="num">
              Gate runs
            </th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, landed, bounced, runs }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td className="num">{showNumber(landed)}</td>
              <td className="num">{showNumber(bounced)}</td>
              <td className="num">{showNumber(runs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** A share as a track that is partly laid. Null: no bar at all, and the word. */
export function Share({ percent }: { readonly percent: number | null }) {
  if (percent === null) return <span className="share-unknown">{UNKNOWN}</span>;
  return (
    <svg
      className="share"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <rect className="share-all" width="100" height="6" />
      <rect className="share-part" width={Math.min(100, Math.max(0, percent))} height="6" />
    </svg>
  );
}

/** Two lengths over each other: what was spent, and what one gate run per pull request would have cost. */
export function Against({
  spent,
  otherwise,
}: {
  readonly spent: number | null;
  readonly otherwise: number | null;
}) {
  if (spent === null || otherwise === null) return null;
  const most = Math.max(1, spent, otherwise);
  return (
    <svg
      className="against"
      viewBox="0 0 100 14"
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <rect className="against-otherwise" width={(otherwise / most) * 100} height="6" />
      <rect className="against-spent" y="8" width={(spent / most) * 100} height="6" />
    </svg>
  );
}
