import { useQuery } from '@tanstack/react-query';
import type { SetupCheck } from '#core/contracts/internal/dashboard.ts';
import { useService } from '../../data/hooks.ts';
import { Button, Outward } from '../frame/basics.tsx';
import { Mark } from '../frame/signal.tsx';

/** Null: a person has signed in before, and the service tells a stranger nothing more. */
async function loadChecks(address: string): Promise<readonly SetupCheck[] | null> {
  const answer = await fetch(address, { cache: 'no-store' });
  return answer.ok ? ((await answer.json()) as { readonly checks: readonly SetupCheck[] }).checks : null;
}

/** Checks of an installation, for its operator, before the first person signs in. */
export function FirstStart() {
  const { config } = useService();
  const address = config.checks ?? '';
  const checks = useQuery({
    queryKey: ['checks'],
    queryFn: () => loadChecks(address),
    enabled: address !== '',
  });
  const found = checks.data ?? null;
  if (found === null) return null;
  const lacking = found.filter(({ fix }) => fix !== undefined).length;
  return (
    <section className="panel first-start" aria-labelledby="first-start">
      <div className="panel-head">
        <h2 id="first-start">{lacking === 0 ? 'Ready for the first sign-in' : 'Before the first sign-in'}</h2>
        <Button busy={checks.isFetching} onClick={() => void checks.refetch()}>
          Check again
        </Button>
      </div>
      <ul className="first-start-checks">
        {found.map((check) => (
          <Check key={check.what} check={check} />
        ))}
      </ul>
      <p className="hint">
        This list is shown until the first person signs in. Afterwards <code>npm run doctor</code> tells it.
      </p>
    </section>
  );
}

function Check({ check: { what, note, fix, link } }: { readonly check: SetupCheck }) {
  return (
    <li>
      <Mark tone={fix === undefined ? 'clear' : 'stop'} />
      <div>
        <strong>{what}</strong>
        <span className="sr-only">{fix === undefined ? ' is right' : ' is not right'}</span>
        {note !== undefined && <span className="hint first-start-note"> {note}</span>}
        {fix !== undefined && (
          <p>
            {fix} {link !== undefined && <Outward href={link}>Open that page of the forge</Outward>}
          </p>
        )}
      </div>
    </li>
  );
}
