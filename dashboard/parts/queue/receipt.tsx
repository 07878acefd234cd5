import { sayApprovers } from '#core/contracts/evidence/approvals-text.ts';
import { commitUrl, shortSha, showFullTime } from '../../view/format.ts';
import type { BatchNode, BatchTree } from '../../view/tree.ts';
import { Copy, Outward } from '../frame/basics.tsx';
import { PullLink } from './pull-link.tsx';

type Receipt = NonNullable<BatchNode['actions'][number]['receipt']>;

interface ReceiptPlace {
  readonly repoId: string;
  readonly instanceUrl: string;
  readonly slug: string;
}

/** The meaning of the gate run for this landing: it judged the state after the last pull request of its batch (D-101). */
function sayProof({
  tree,
  gated_tree,
  own_run,
}: {
  readonly tree: string;
  readonly gated_tree: string | null;
  readonly own_run: boolean;
}): string {
  if (own_run && gated_tree === tree)
    return 'as proven: the gate run of the head itself was on exactly this state';
  if (gated_tree === null) return 'as proven';
  return gated_tree === tree
    ? 'as proven: the gate ran on exactly this state'
    : 'as proven: one step of a batch that passed the gate as a whole; no gate run judged this step alone';
}

/** Proof of every landing of a batch: what was proven, by which gate run, and the merge that carries exactly that tree. */
export function Receipts({ tree, ...place }: ReceiptPlace & { readonly tree: BatchTree }) {
  const found = new Map(
    tree.nodes.flatMap(({ row }) =>
      row.actions.flatMap(({ pr, receipt }) => (receipt === null ? [] : [[pr, receipt] as const])),
    ),
  );
  if (found.size === 0) return null;
  return <ReceiptList receipts={[...found].map(([pr, receipt]) => ({ pr, receipt }))} {...place} />;
}

export function ReceiptList({
  receipts,
  repoId,
  instanceUrl,
  slug,
}: ReceiptPlace & {
  readonly receipts: readonly { readonly pr: number; readonly receipt: Receipt }[];
}) {
  const url = (sha: string): string | null => commitUrl(instanceUrl, slug, sha);
  return (
    <section aria-labelledby="receipts-title">
      <h2 id="receipts-title">Receipts</h2>
      <ul className="receipts">
        {receipts.map(({ pr, receipt }) => (
          <li key={receipt.merge_commit} className="receipt">
            <p className="receipt-head">
              <PullLink repoId={repoId} pr={pr} />
              <span className="hint">{showFullTime(receipt.landed_at)}</span>
            </p>
            <dl>
              <dt>tree</dt>
              <dd>
                <code>{shortSha(receipt.tree)}</code>{' '}
                <span className="receipt-proof">{sayProof(receipt)}</span>
              </dd>
              <dt>merge</dt>
              <dd>
                <Outward href={url(receipt.merge_commit)}>
                  <code>{shortSha(receipt.merge_commit)}</code>
                </Outward>
              </dd>
              <dt>staged on</dt>
              <dd>
                <Outward href={url(receipt.base_before)}>
                  <code>{shortSha(receipt.base_before)}</code>
                </Outward>
              </dd>
              <dt>head</dt>
              <dd>
                <Outward href={url(receipt.head)}>
                  <code>{shortSha(receipt.head)}</code>
                </Outward>
              </dd>
              <dt>scheduled by</dt>
              <dd>{receipt.scheduled_by ?? 'not known'}</dd>
              <dt>approved by</dt>
              <dd>{sayApprovers(receipt.approved_by)}</dd>
              <dt>{receipt.own_run ? 'head that was judged' : 'staged commit'}</dt>
              <dd>
                <code>{shortSha(receipt.staged_sha)}</code>
              </dd>
              <dt>gate run</dt>
              <dd>
                {receipt.run_url === null ? (
                  'link unknown'
                ) : (
                  <Outward href={receipt.run_url} label={`Open the gate run behind the receipt of #${pr}`}>
                    Open
                  </Outward>
                )}
              </dd>
            </dl>
            <Copy text={JSON.stringify({ pr, ...receipt }, null, 2)} label={`Copy the receipt of #${pr}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}
