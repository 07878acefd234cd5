import { Fragment } from 'react';
import { Link } from 'wouter';
import { path } from '../../routes.ts';

/** The number of a pull request, leading to its story. */
export function PullLink({ repoId, pr }: { readonly repoId: string; readonly pr: number }) {
  return <Link href={path.pull(repoId, pr)}>#{pr}</Link>;
}

/** `#3, #4 and 5 more`, each number a link. */
export function PullLinks({
  repoId,
  prs,
  most = 50,
}: {
  readonly repoId: string;
  readonly prs: readonly number[];
  readonly most?: number;
}) {
  const shown = prs.length > most ? prs.slice(0, most) : prs;
  const rest = prs.length - shown.length;
  const between = (index: number): string =>
    index === 0 ? '' : index === shown.length - 1 && rest === 0 ? ' and ' : ', ';
  return (
    <span>
      {shown.map((pr, index) => (
        <Fragment key={pr}>
          {between(index)}
          <PullLink repoId={repoId} pr={pr} />
        </Fragment>
      ))}
      {rest > 0 && ` and ${rest} more`}
    </span>
  );
}
