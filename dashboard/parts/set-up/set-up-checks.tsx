import { ApiError, type ResultOf } from '#core/contracts/routes/client.ts';
import { useChange } from '../../data/hooks.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import type { Tone } from '../../view/tone.ts';
import { Button } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { Tag } from '../frame/signal.tsx';

type Check = ResultOf<'verifyGate'>['checks'][number];
type State = Check['state'];
type ShownCheck = Omit<Check, 'check'> & { readonly check: Check['check'] | 'gate_file' };
const SHOWN: Readonly<Record<State, readonly [tone: Tone, word: string]>> = {
  ok: ['clear', 'Ok'],
  missing: ['stop', 'Missing'],
  unknown: ['unknown', 'Not known'],
};

/** Parts that a bot which is no administrator leaves to the owner: each as a verify call read it, with the fix. */
export function SetUpChecks({ repo }: { readonly repo: StatusEntry }) {
  const verify = useChange((api, id: string) => api.verifyGate({ id }), [['queue']]);
  const checks: readonly ShownCheck[] = verify.data?.checks ?? checksOf(verify.error);
  return (
    <section className="panel" aria-labelledby="set-up-checks-title">
      <h2 id="set-up-checks-title">Settings on the forge</h2>
      <p>
        A bot with administrator rights makes these settings itself. For any other bot make them by hand, then
        press the button. What the bot may not read, or did not see yet, is shown as "Not known".
      </p>
      {checks.length > 0 && (
        <ul className="steps" aria-label="Settings on the forge">
          {checks.map(({ check, state, says, fix }) => (
            <li key={check} className={`step tone-${SHOWN[state][0]}`}>
              <p>
                {says} <Tag tone={SHOWN[state][0]}>{SHOWN[state][1]}</Tag>
              </p>
              {fix !== null && <p className="hint">{fix}</p>}
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <Button busy={verify.isPending} onClick={() => verify.mutate(repo.id)}>
          {checks.length === 0 ? 'Verify the gate and these settings' : 'Verify again'}
        </Button>
      </div>
      <Problem error={verify.error} />
    </section>
  );
}

/** Refusals that list checks: where the gate file is missing, that is the first of them. */
const WITH_CHECKS: readonly string[] = ['ci_gate_missing', 'queue_branches_ruled'];

function checksOf(error: unknown): readonly ShownCheck[] {
  if (!(error instanceof ApiError) || !WITH_CHECKS.includes(error.code)) return [];
  const { checks } = error.fields;
  return Array.isArray(checks) ? checks : [];
}
