import { useNow } from '../data/hooks.ts';
import type { RepoActivity } from '../view/blocker.ts';
import { showClock } from '../view/format.ts';

/** Parts of the set-up that were changed on the forge, and what to do about each; nothing where all is as it was made. */
export function Drifts({ activity }: { readonly activity: RepoActivity }) {
  const now = useNow();
  const { drifts } = activity;
  if (drifts.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="drift-title">
      <h2 id="drift-title">Changed on the forge since it was set up</h2>
      <ul>
        {drifts.map(({ kind, says, next, since }) => (
          <li key={kind}>
            {says}
            {since === null ? '' : `, seen since ${showClock(since, now)}`}. The forge does not tell who
            changed it. {next}
          </li>
        ))}
      </ul>
    </section>
  );
}
