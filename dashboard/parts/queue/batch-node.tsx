import {
  commitUrl,
  secondsBetween,
  shortSha,
  showDuration,
  showFullTime,
  showPart,
} from '../../view/format.ts';
import type { BatchNode } from '../../view/tree.ts';
import { originOf, sayOrigin, sayPhase, sayReason, sayVerdict, wordOfOutcome } from '../../view/words.ts';
import { Outward } from '../frame/basics.tsx';
import type { RepoView } from '../frame/repo-frame.tsx';
import { Tag } from '../frame/signal.tsx';
import { GateRun } from './gate-run.tsx';
import { PullLinks } from './pull-link.tsx';

/** All that is stored of one node. */
export function NodeDetails({ row, view }: { readonly row: BatchNode; readonly view: RepoView }) {
  const word = wordOfOutcome(row.outcome);
  const { instance_url: instance, name: slug } = view.repo;
  const phase = sayPhase(row.phase);
  const reason = sayReason(row.terminal_reason);
  const took = row.resolved_at === null ? null : secondsBetween(row.created_at, Date.parse(row.resolved_at));
  return (
    <section className="panel node" aria-label={showPart(row.node_id)} aria-live="polite">
      <div className="panel-head">
        <h3>{showPart(row.node_id)}</h3>
        <Tag tone={word.tone} shape={word.shape}>
          {word.name}
        </Tag>
      </div>
      <p>
        {word.meaning} {reason}
      </p>
      <dl className="facts">
        <dt>Pull requests</dt>
        <dd>
          {row.prs.length === 0 ? 'none: the bare base' : <PullLinks repoId={view.repo.id} prs={row.prs} />}
        </dd>
        {phase !== null && (
          <>
            <dt>Phase</dt>
            <dd>{phase}</dd>
          </>
        )}
        <dt>Evidence</dt>
        <dd>{sayOrigin(originOf(row))}</dd>
        <dt>Verdict</dt>
        <dd>{sayVerdict(row.gate_verdict, row.resolved_at === null)}</dd>
        <dt>Gate run</dt>
        <dd>
          {row.run_url === null ? (
            'none seen'
          ) : (
            <GateRun href={row.run_url} prs={row.prs}>
              Open the gate run
            </GateRun>
          )}
        </dd>
        <dt>Attempt</dt>
        <dd>{row.attempt}</dd>
        <dt>Staged commit</dt>
        <dd>
          {row.staging_sha === null ? (
            'none'
          ) : (
            <Outward href={commitUrl(instance, slug, row.staging_sha)}>
              <code>{shortSha(row.staging_sha)}</code>
            </Outward>
          )}
        </dd>
        <dt>Tree</dt>
        <dd>
          <code>{row.staging_tree === null ? 'none' : shortSha(row.staging_tree)}</code>
        </dd>
        <dt>Branch</dt>
        <dd className="wrap">
          {row.staging_branch === null ? (
            row.gate_source === 'cached' ? (
              'none: nothing was pushed'
            ) : (
              'none any more'
            )
          ) : (
            <code>{row.staging_branch}</code>
          )}
        </dd>
        <dt>Begun</dt>
        <dd>{showFullTime(row.created_at)}</dd>
        <dt>Ended</dt>
        <dd>
          {row.resolved_at === null
            ? 'not yet'
            : `${showFullTime(row.resolved_at)}, after ${showDuration(took)}`}
        </dd>
      </dl>
    </section>
  );
}

/** How to read the drawing. */
export function Legend() {
  return (
    <ul className="legend" aria-label="How to read the drawing">
      <li>
        <span className="legend-bar origin-ran" /> ran
      </li>
      <li>
        <span className="legend-bar origin-confirmed" /> confirmed by a second gate run
      </li>
      <li>
        <span className="legend-bar origin-cached" /> known already, no new gate run
      </li>
      <li>
        <span className="legend-bar legend-quiet" /> superseded or invalidated
      </li>
    </ul>
  );
}
