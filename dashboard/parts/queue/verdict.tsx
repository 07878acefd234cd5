import { Link } from 'wouter';
import { useNow } from '../../data/hooks.ts';
import { path } from '../../routes.ts';
import { type Blocker, type Remedy, sayTimes } from '../../view/blocker.ts';
import { Outward } from '../frame/basics.tsx';
import { Signal } from '../frame/signal.tsx';
import { PullLink } from './pull-link.tsx';

/** The one line that says what blocks the next landing, since when and until when. */
export function Verdict({
  blocker,
  repoId,
  instanceUrl,
  slug,
}: {
  readonly blocker: Blocker;
  readonly repoId: string;
  readonly instanceUrl: string;
  readonly slug: string;
}) {
  const now = useNow();
  const times = sayTimes(blocker, now);
  return (
    <section className={`verdict tone-${blocker.tone}`} aria-label="What blocks the next landing">
      <Signal tone={blocker.tone} size="large" />
      <div className="verdict-words">
        <p className="verdict-text" aria-live="polite">
          {blocker.text}.
        </p>
        <p className="verdict-foot">
          {times !== '' && <span>{times}</span>}
          {blocker.runUrl !== null && (
            <Outward href={blocker.runUrl} label="Gate run on the forge">
              Gate run
            </Outward>
          )}
          {blocker.pr !== null && <PullLink repoId={repoId} pr={blocker.pr} />}
          <WayOut remedy={blocker.remedy} repoId={repoId} href={`${instanceUrl}/${slug}`} />
        </p>
      </div>
    </section>
  );
}

function WayOut({
  remedy,
  repoId,
  href,
}: {
  readonly remedy: Remedy;
  readonly repoId: string;
  readonly href: string;
}) {
  switch (remedy) {
    case 'settings':
      return <Link href={path.settings(repoId)}>Open settings</Link>;
    case 'setup':
      return <Link href={path.setup(repoId)}>Finish setup</Link>;
    case 'billing':
      return <Link href={path.billing()}>Settle it in billing</Link>;
    case 'connections':
      return <Link href={path.connections()}>Renew the token</Link>;
    case 'forge':
      return <Outward href={href}>Repository on the forge</Outward>;
    case null:
      return null;
  }
}
