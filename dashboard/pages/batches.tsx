import { useEffect } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { Ago, Empty, Outward } from '../parts/basics.tsx';
import { Receipts } from '../parts/receipt.tsx';
import { RepoFrame, type RepoView } from '../parts/repo-frame.tsx';
import { Tag } from '../parts/signal.tsx';
import { TreeDrawing } from '../parts/tree.tsx';
import { path } from '../routes.ts';
import {
  commitUrl,
  plural,
  pullUrl,
  secondsBetween,
  shortSha,
  showDuration,
  showFullTime,
  showNumber,
  showPulls,
} from '../view/format.ts';
import {
  type BatchNode,
  type BatchTree,
  countRuns,
  groupTrees,
  type MemberStory,
  tellMembers,
} from '../view/tree.ts';
import { originOf, sayOrigin, sayPhase, sayReason, wordOfAction, wordOfOutcome } from '../view/words.ts';

function treesOf({ repo, feed }: RepoView): readonly BatchTree[] {
  return groupTrees(
    feed.queue_batches.filter((row) => row.repo_slug === repo.name && row.instance_url === repo.instance_url),
  );
}

/** All batches of a repository that the feed still holds. */
export function BatchesPage({ id }: { readonly id: string }) {
  return (
    <RepoFrame id={id} tab="batches">
      {(view) => <Batches view={view} />}
    </RepoFrame>
  );
}

function Batches({ view }: { readonly view: RepoView }) {
  const trees = treesOf(view);
  const { feed, repo } = view;
  return (
    <>
      {trees.length === 0 ? (
        <Empty title="No batch yet">
          <p>The first one is staged as soon as a pull request is scheduled and admissible.</p>
        </Empty>
      ) : (
        <div className="table-scroll">
          <table>
            <caption className="sr-only">Batches, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Batch</th>
                <th scope="col">Outcome</th>
                <th scope="col">Became of it</th>
                <th scope="col" className="num">
                  Nodes
                </th>
                <th scope="col" className="num">
                  Runs
                </th>
                <th scope="col">Begun</th>
              </tr>
            </thead>
            <tbody>
              {trees.map((tree) => (
                <BatchLine key={tree.runId} tree={tree} repoId={repo.id} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {feed.queue_batches_truncated && (
        <p className="hint">
          Only the newest {feed.queue_batches.length} nodes of the account are sent; older batches are not
          shown.
        </p>
      )}
      <RecordErrors feed={feed} />
    </>
  );
}

function BatchLine({ tree, repoId }: { readonly tree: BatchTree; readonly repoId: string }) {
  const word = wordOfOutcome(tree.root.outcome);
  const members = tellMembers(tree);
  const count = (action: string): number => members.filter((each) => each.action?.action === action).length;
  const landed = count('landed');
  const bounced = count('bounced');
  return (
    <tr>
      <th scope="row">
        <Link href={path.batch(repoId, tree.runId)}>{showPulls(tree.root.prs)}</Link>
      </th>
      <td>
        <Tag tone={word.tone} shape={word.shape}>
          {word.name}
        </Tag>
      </td>
      <td>
        {[landed > 0 ? `${landed} landed` : '', bounced > 0 ? `${bounced} bounced` : '']
          .filter((each) => each !== '')
          .join(', ') || '–'}
      </td>
      <td className="num">{tree.nodes.length}</td>
      <td className="num">{showNumber(countRuns(tree))}</td>
      <td>
        <Ago iso={tree.root.created_at} />
      </td>
    </tr>
  );
}

/** Rows that cannot be shown as nodes: apart from the trees, never guessed into one. */
function RecordErrors({ feed }: { readonly feed: RepoView['feed'] }) {
  if (feed.record_errors.length === 0) return null;
  return (
    <section className="panel">
      <h2>Records that cannot be shown</h2>
      <p className="hint">
        {plural(feed.record_errors.length, 'row')} of this account{' '}
        {feed.record_errors.length === 1 ? 'is' : 'are'} stored, but{' '}
        {feed.record_errors.length === 1 ? 'is' : 'are'} no node of any tree. What became of their pull
        requests stands on the forge.
      </p>
      <ul className="plain">
        {feed.record_errors.map(({ id, reason }) => (
          <li key={id}>
            <code>{id}</code>{' '}
            {reason === 'missing_identity' ? 'made before nodes had a name' : 'cannot be read'}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One batch as a tree; the chosen node stands in the address. */
export function BatchPage({ id, run }: { readonly id: string; readonly run: string }) {
  return (
    <RepoFrame id={id} tab="batches">
      {(view) => <Batch view={view} run={run} />}
    </RepoFrame>
  );
}

function Batch({ view, run }: { readonly view: RepoView; readonly run: string }) {
  const [, navigate] = useLocation();
  const chosen = new URLSearchParams(useSearch()).get('node');
  const tree = treesOf(view).find((each) => each.runId === run);
  useEffect(() => {
    // For the test that measures it: from the start of the navigation to the tree being there.
    performance.mark('tree-drawn');
  });
  if (tree === undefined) {
    return (
      <Empty title="This batch is not among the newest">
        <p>
          The feed holds the newest 200 nodes.{' '}
          <Link href={path.batches(view.repo.id)}>All batches that are shown</Link>
        </p>
      </Empty>
    );
  }
  const selected = tree.nodes.find(({ row }) => row.node_id === chosen)?.row ?? null;
  const word = wordOfOutcome(tree.root.outcome);
  return (
    <>
      <div className="panel-head">
        <h2>{showPulls(tree.root.prs, 8)}</h2>
        <Tag tone={word.tone} shape={word.shape}>
          {word.name}
        </Tag>
      </div>
      <p className="hint" aria-live="polite">
        {plural(tree.nodes.length, 'node')},{' '}
        {countRuns(tree) === null ? 'an unknown number of runs' : plural(countRuns(tree) ?? 0, 'gate run')},
        begun <Ago iso={tree.root.created_at} />.
      </p>
      <div className="tree-grid">
        <TreeDrawing
          tree={tree}
          selected={chosen}
          onSelect={(node) => navigate(path.batch(view.repo.id, run, node), { replace: true })}
        />
        <NodeDetails row={selected ?? tree.root} view={view} />
      </div>
      <Legend />
      <Members tree={tree} view={view} />
      <Receipts tree={tree} instanceUrl={view.repo.instance_url} slug={view.repo.name} />
    </>
  );
}

function NodeDetails({ row, view }: { readonly row: BatchNode; readonly view: RepoView }) {
  const word = wordOfOutcome(row.outcome);
  const { instance_url: instance, name: slug } = view.repo;
  const phase = sayPhase(row.phase);
  const reason = sayReason(row.terminal_reason);
  const took = row.resolved_at === null ? null : secondsBetween(row.created_at, Date.parse(row.resolved_at));
  return (
    <section className="panel node" aria-label={`Node ${row.node_id}`} aria-live="polite">
      <div className="panel-head">
        <h3>
          Node <code>{row.node_id}</code>
        </h3>
        <Tag tone={word.tone} shape={word.shape}>
          {word.name}
        </Tag>
      </div>
      <p>
        {word.meaning} {reason}
      </p>
      <dl className="facts">
        <dt>Pull requests</dt>
        <dd>{row.prs.length === 0 ? 'none: the bare base' : showPulls(row.prs, 50)}</dd>
        {phase !== null && (
          <>
            <dt>Phase</dt>
            <dd>{phase}</dd>
          </>
        )}
        <dt>Evidence</dt>
        <dd>{sayOrigin(originOf(row))}</dd>
        <dt>Verdict</dt>
        <dd>{row.gate_verdict === 'none' ? 'none yet' : row.gate_verdict}</dd>
        <dt>Gate run</dt>
        <dd>{row.run_url === null ? 'none seen' : <Outward href={row.run_url}>Open the run</Outward>}</dd>
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

function Legend() {
  return (
    <ul className="legend" aria-label="How to read the drawing">
      <li>
        <span className="legend-bar origin-ran" /> ran
      </li>
      <li>
        <span className="legend-bar origin-confirmed" /> confirmed by a second run
      </li>
      <li>
        <span className="legend-bar origin-cached" /> cached, no run spent
      </li>
      <li>
        <span className="legend-bar legend-quiet" /> superseded or invalidated
      </li>
    </ul>
  );
}

function Members({ tree, view }: { readonly tree: BatchTree; readonly view: RepoView }) {
  return (
    <section className="panel">
      <h2>Became of each pull request</h2>
      <div className="table-scroll">
        <table>
          <caption className="sr-only">Members of the batch in order</caption>
          <thead>
            <tr>
              <th scope="col">Pull request</th>
              <th scope="col">What became of it</th>
              <th scope="col">Why</th>
              <th scope="col">Decided by</th>
            </tr>
          </thead>
          <tbody>
            {tellMembers(tree).map((member) => (
              <MemberLine key={member.pr} member={member} view={view} run={tree.runId} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** For an action without a reason of its own. */
function sayPlainAction({ action }: MemberStory): string {
  if (action?.action === 'landed') return 'Its tree was proven, and landed as proven.';
  if (action?.action === 'requeued') return 'Not decided in this batch; it keeps its place in the line.';
  return '';
}

function MemberLine({
  member,
  view,
  run,
}: {
  readonly member: MemberStory;
  readonly view: RepoView;
  readonly run: string;
}) {
  const { repo } = view;
  const word = member.action === null ? null : wordOfAction(member.action.action);
  const running = member.open;
  return (
    <tr>
      <th scope="row">
        <Outward href={pullUrl(repo.instance_url, repo.name, member.pr)}>#{member.pr}</Outward>
      </th>
      <td>
        {word !== null ? (
          <Tag tone={word.tone} shape={word.shape}>
            {word.name}
          </Tag>
        ) : member.later !== null ? (
          <Tag tone="quiet">{member.later} later</Tag>
        ) : (
          <Tag tone={running ? 'busy' : 'unknown'}>{running ? 'Not decided' : 'Unknown'}</Tag>
        )}
        {word !== null && member.action?.action === 'requeued' && member.later !== null && (
          <span className="hint"> {member.later} later</span>
        )}
      </td>
      <td>
        {sayReason(member.action?.reason ?? null) ?? sayPlainAction(member)}{' '}
        {member.action?.action === 'bounced' && member.node !== null && member.node.run_url !== null && (
          <Outward href={member.node.run_url}>Failing run</Outward>
        )}
      </td>
      <td>
        {member.node === null || member.action?.action === 'requeued' ? (
          '–'
        ) : (
          <Link href={path.batch(repo.id, run, member.node.node_id)}>
            node <code>{member.node.node_id}</code>
          </Link>
        )}
      </td>
    </tr>
  );
}
