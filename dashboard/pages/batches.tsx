import { useEffect } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { Ago, Empty } from '../parts/frame/basics.tsx';
import { RepoFrame, type RepoView } from '../parts/frame/repo-frame.tsx';
import { Tag } from '../parts/frame/signal.tsx';
import { Members } from '../parts/queue/batch-members.tsx';
import { Legend, NodeDetails } from '../parts/queue/batch-node.tsx';
import { PullLinks } from '../parts/queue/pull-link.tsx';
import { Receipts } from '../parts/queue/receipt.tsx';
import { TreeDrawing } from '../parts/queue/tree.tsx';
import { path } from '../routes.ts';
import { plural, showNumber, showPulls } from '../view/format.ts';
import {
  type BatchTree,
  countGateRuns,
  countParts,
  describeForgeCosts,
  tellMembers,
  treesOf,
} from '../view/tree.ts';
import { wordOfOutcome } from '../view/words.ts';

/** All batches of a repository that the feed still holds. */
export function BatchesPage({ id }: { readonly id: string }) {
  const before = useBefore();
  return (
    <RepoFrame id={id} tab="batches" before={before}>
      {(view) => <Batches view={view} before={before} />}
    </RepoFrame>
  );
}

/** Where the older batches begin that are shown; null: the newest are. */
function useBefore(): string | null {
  return new URLSearchParams(useSearch()).get('before');
}

function Batches({ view, before }: { readonly view: RepoView; readonly before: string | null }) {
  const trees = treesOf(view);
  const { feed, repo } = view;
  return (
    <>
      {trees.length === 0 ? (
        <Nothing isAll={before === null && feed.queue_batches_next === null} />
      ) : (
        <div className="table-scroll">
          <table className="stacked">
            <caption className="sr-only">Batches, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Batch</th>
                <th scope="col">Outcome</th>
                <th scope="col">What became of it</th>
                <th scope="col" className="num">
                  Parts
                </th>
                <th scope="col" className="num">
                  Gate runs
                </th>
                <th scope="col">Begun</th>
              </tr>
            </thead>
            <tbody>
              {trees.map((tree) => (
                <BatchLine key={tree.batchId} tree={tree} repoId={repo.id} before={before} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pages feed={feed} repoId={repo.id} before={before} />
      <RecordErrors feed={feed} />
    </>
  );
}

function Nothing({ isAll }: { readonly isAll: boolean }) {
  return isAll ? (
    <Empty title="No batch yet">
      <p>The first batch is staged as soon as a pull request is scheduled and no rule refuses it.</p>
    </Empty>
  ) : (
    <Empty title="No batch of this repository on this page">
      <p>A page shows 200 parts of batches, those of all your repositories together.</p>
    </Empty>
  );
}

function Pages({
  feed,
  repoId,
  before,
}: {
  readonly feed: RepoView['feed'];
  readonly repoId: string;
  readonly before: string | null;
}) {
  const { queue_batches: shown, queue_batches_next: next } = feed;
  if (before === null && next === null) return null;
  return (
    <nav className="row" aria-label="Pages of batches">
      {before !== null && <Link href={path.batches(repoId)}>Newest batches</Link>}
      {next !== null && <Link href={path.batches(repoId, next)}>Older batches</Link>}
      <span className="hint">
        This page shows {plural(shown.length, 'part')} of the batches of all your repositories.
      </span>
    </nav>
  );
}

function BatchLine({
  tree,
  repoId,
  before,
}: {
  readonly tree: BatchTree;
  readonly repoId: string;
  readonly before: string | null;
}) {
  const word = wordOfOutcome(tree.root.outcome);
  const members = tellMembers(tree);
  const count = (action: string): number => members.filter((each) => each.action?.action === action).length;
  const landed = count('landed');
  const bounced = count('bounced');
  return (
    <tr>
      <th scope="row">
        <Link href={path.batch(repoId, tree.batchId, null, before)}>{showPulls(tree.root.prs)}</Link>
      </th>
      <td>
        <Tag tone={word.tone} shape={word.shape}>
          {word.name}
        </Tag>
      </td>
      <td data-label="What became of it">
        {[landed > 0 ? `${landed} landed` : '', bounced > 0 ? `${bounced} bounced` : '']
          .filter((each) => each !== '')
          .join(', ') || '–'}
      </td>
      <td className="num" data-label="Parts">
        {1 + countParts(tree)}
      </td>
      <td className="num" data-label="Gate runs">
        {showNumber(countGateRuns(tree))}
      </td>
      <td data-label="Begun">
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
        {feed.record_errors.length === 1 ? 'is' : 'are'} no part of any batch. What became of their pull
        requests stands on the forge.
      </p>
      <ul className="plain">
        {feed.record_errors.map(({ id, reason }) => (
          <li key={id}>
            <code>{id}</code>{' '}
            {reason === 'missing_identity' ? 'made before parts had a name' : 'cannot be read'}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One batch as a tree; the chosen node stands in the address. */
export function BatchPage({ id, batchId }: { readonly id: string; readonly batchId: string }) {
  const before = useBefore();
  return (
    <RepoFrame id={id} tab="batches" before={before}>
      {(view) => <Batch view={view} batchId={batchId} before={before} />}
    </RepoFrame>
  );
}

function Batch({
  view,
  batchId,
  before,
}: {
  readonly view: RepoView;
  readonly batchId: string;
  readonly before: string | null;
}) {
  const [, navigate] = useLocation();
  const chosen = new URLSearchParams(useSearch()).get('node');
  const tree = treesOf(view).find((each) => each.batchId === batchId);
  useEffect(() => {
    // For the test that measures it: from the start of the navigation to the tree being there.
    performance.mark('tree-drawn');
  });
  if (tree === undefined) {
    return (
      <Empty title="This batch is not on this page">
        <p>
          A page shows 200 parts of batches. <Link href={path.batches(view.repo.id)}>Newest batches</Link>
          {view.feed.queue_batches_next !== null && (
            <>
              {', '}
              <Link href={path.batch(view.repo.id, batchId, chosen, view.feed.queue_batches_next)}>
                look for it among the older ones
              </Link>
            </>
          )}
        </p>
      </Empty>
    );
  }
  const selected = tree.nodes.find(({ row }) => row.node_id === chosen)?.row ?? null;
  const word = wordOfOutcome(tree.root.outcome);
  return (
    <>
      <div className="panel-head">
        <h2>
          <PullLinks repoId={view.repo.id} prs={tree.root.prs} most={8} />
        </h2>
        <Tag tone={word.tone} shape={word.shape}>
          {word.name}
        </Tag>
      </div>
      <p className="hint" aria-live="polite">
        {plural(1 + countParts(tree), 'part')},{' '}
        {countGateRuns(tree) === null
          ? 'an unknown number of gate runs'
          : plural(countGateRuns(tree) ?? 0, 'gate run')}
        {describeForgeCosts(tree.root)}, begun <Ago iso={tree.root.created_at} />.
      </p>
      <div className="tree-grid">
        <TreeDrawing
          tree={tree}
          selected={chosen}
          onSelect={(node) => navigate(path.batch(view.repo.id, batchId, node, before), { replace: true })}
        />
        <NodeDetails row={selected ?? tree.root} view={view} />
      </div>
      <Legend />
      <Members tree={tree} view={view} before={before} />
      <Receipts
        tree={tree}
        repoId={view.repo.id}
        instanceUrl={view.repo.instance_url}
        slug={view.repo.name}
      />
    </>
  );
}
