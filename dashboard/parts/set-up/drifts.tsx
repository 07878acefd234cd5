import { sinceEarliest } from '#core/domain/set-up/drift-since.ts';
import { useChange, useNow } from '../../data/hooks.ts';
import type { RepoActivity } from '../../view/blocker.ts';
import { showClock } from '../../view/format.ts';
import { Button } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';

type Repair = RepoActivity['repairs'][number];
const REPAIRED: Readonly<Record<Repair['part'], Readonly<Record<Repair['result'], string>>>> = {
  webhook: {
    begun: 'The service began to register the webhook again',
    done: 'The service registered the webhook again',
    failed: 'The service could not register the webhook again',
  },
  protection: {
    begun: 'The service began to put the required status back',
    done: 'The service put the required status back',
    failed: 'The service could not put the required status back',
  },
};

/** Kinds that the button of this panel puts back, where `repair` says that a call of the queue can. */
const PUT_BACK: readonly RepoActivity['drifts'][number]['kind'][] = [
  'protection',
  'required_context',
  'webhook_missing',
  'webhook_changed',
];

/** The file stands in the repository with its history, and a token may just have expired. */
const CHANGED_BY_NONE: readonly RepoActivity['drifts'][number]['kind'][] = ['settings_file', 'rights'];

function saySince(kind: RepoActivity['drifts'][number]['kind'], clock: string): string {
  return sinceEarliest(kind) ? `since ${clock} at the earliest` : `seen since ${clock}`;
}

/** Parts of the setup that were changed on the forge, and what to do about each; nothing where all is as it was made. */
export function Drifts({ activity }: { readonly activity: RepoActivity }) {
  const now = useNow();
  const { drifts, repairs, repo_id: id } = activity;
  const putBack = useChange((api, repoId: string) => api.provisionRepo({ id: repoId }), [['queue']]);
  const canPutBack = drifts.some(({ kind, repair }) => PUT_BACK.includes(kind) && repair !== 'people');
  if (drifts.length === 0 && repairs.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="drift-title">
      <h2 id="drift-title">Changed on the forge since it was set up</h2>
      <ul>
        {drifts.map(({ kind, says, next, since }) => (
          <li key={kind}>
            {says}
            {since === null ? '' : `, ${saySince(kind, showClock(since, now))}`}.
            {CHANGED_BY_NONE.includes(kind) ? ' ' : ' The forge does not tell who changed it. '}
            {next}
          </li>
        ))}
        {repairs.map(({ part, at, result }) => (
          <li key={`${part} ${at}`}>
            {REPAIRED[part][result]}, {showClock(at, now)}. The forge does not tell who changed it.
          </li>
        ))}
      </ul>
      {canPutBack && (
        <Button busy={putBack.isPending} onClick={() => putBack.mutate(id)}>
          Put it back now
        </Button>
      )}
      <Problem error={putBack.error} />
    </section>
  );
}
