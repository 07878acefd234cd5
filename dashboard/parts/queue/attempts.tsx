import { Link } from 'wouter';
import { path } from '../../routes.ts';
import { showPart } from '../../view/format.ts';
import type { PullStory } from '../../view/pull.ts';
import { wordOfOutcome } from '../../view/words.ts';
import { Ago } from '../frame/basics.tsx';
import { Tag } from '../frame/signal.tsx';
import { GateRun } from './gate-run.tsx';
import { PullLinks } from './pull-link.tsx';

/** The batches that one pull request was in, part by part, newest first. */
export function Attempts({ story, repoId }: { readonly story: PullStory; readonly repoId: string }) {
  return (
    <section className="panel" aria-labelledby="attempts-title">
      <h2 id="attempts-title">Attempts</h2>
      {story.attempts.length === 0 ? (
        <p className="hint">The newest records of this repository name no batch with this pull request.</p>
      ) : (
        <div className="table-scroll">
          <table className="stacked">
            <caption className="sr-only">
              Parts of batches that this pull request was in, newest first
            </caption>
            <thead>
              <tr>
                <th scope="col">Part</th>
                <th scope="col">Outcome</th>
                <th scope="col">Tested</th>
                <th scope="col">Gate run</th>
                <th scope="col">Begun</th>
              </tr>
            </thead>
            <tbody>
              {story.attempts.map((row) => {
                const word = wordOfOutcome(row.outcome);
                const others = row.prs.filter((pr) => pr !== story.number);
                return (
                  <tr key={row.id}>
                    <th scope="row">
                      <Link href={path.batch(repoId, row.run_id, row.node_id)}>{showPart(row.node_id)}</Link>
                    </th>
                    <td>
                      <Tag tone={word.tone} shape={word.shape}>
                        {word.name}
                      </Tag>
                    </td>
                    <td data-label="Tested">
                      {others.length === 0 ? (
                        'alone'
                      ) : (
                        <>
                          with <PullLinks repoId={repoId} prs={others} most={8} />
                        </>
                      )}
                    </td>
                    <td data-label="Gate run">
                      {row.run_url === null ? 'none seen' : <GateRun href={row.run_url} prs={row.prs} />}
                    </td>
                    <td data-label="Begun">
                      <Ago iso={row.created_at} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
