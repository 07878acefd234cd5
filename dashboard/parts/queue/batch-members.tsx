import { Link } from 'wouter';
import { path } from '../../routes.ts';
import { showPart } from '../../view/format.ts';
import { type BatchTree, type MemberStory, tellMembers } from '../../view/tree.ts';
import { sayBounce, sayReason, wordOfAction } from '../../view/words.ts';
import type { RepoView } from '../frame/repo-frame.tsx';
import { Tag } from '../frame/signal.tsx';
import { GateRun } from './gate-run.tsx';
import { PullLink } from './pull-link.tsx';

/** Every pull request of a batch, in order. */
export function Members({
  tree,
  view,
  before,
}: {
  readonly tree: BatchTree;
  readonly view: RepoView;
  readonly before: string | null;
}) {
  return (
    <section className="panel">
      <h2>What became of each pull request</h2>
      <div className="table-scroll">
        <table className="stacked">
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
              <MemberLine
                key={member.pr}
                member={member}
                view={view}
                to={(node) => path.batch(view.repo.id, tree.batchId, node, before)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function sayAction({ action, later }: MemberStory): string {
  const say = action?.action === 'bounced' ? sayBounce : sayReason;
  const reason = say(action?.reason ?? null);
  if (reason !== null) return reason;
  if (action?.action === 'landed') return 'Landed with exactly the tree that was proven.';
  if (action?.action === 'requeued')
    return `Not decided in this batch${later === null ? '; it keeps its place in the queue' : ''}.`;
  return '';
}

function MemberLine({
  member,
  view,
  to,
}: {
  readonly member: MemberStory;
  readonly view: RepoView;
  readonly to: (node: string) => string;
}) {
  const word = member.action === null ? null : wordOfAction(member.action.action);
  const running = member.open;
  return (
    <tr>
      <th scope="row">
        <PullLink repoId={view.repo.id} pr={member.pr} />
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
        {sayAction(member)}{' '}
        {member.action?.action === 'bounced' && member.node !== null && member.node.run_url !== null && (
          <GateRun href={member.node.run_url} prs={member.node.prs}>
            Failing gate run
          </GateRun>
        )}
      </td>
      <td data-label="Decided by">
        {member.node === null || member.action?.action === 'requeued' ? (
          '–'
        ) : (
          <Link href={to(member.node.node_id)}>{showPart(member.node.node_id)}</Link>
        )}
      </td>
    </tr>
  );
}
