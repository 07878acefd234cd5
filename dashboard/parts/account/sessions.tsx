import { useMutation } from '@tanstack/react-query';
import { endSession } from '../../data/end-session.ts';
import { useService, useSession, useSessions } from '../../data/hooks.ts';
import { setSession } from '../../data/session.ts';
import { showFullTime } from '../../view/format.ts';
import { Button } from '../frame/basics.tsx';
import { Failure } from './sign-in-failure.tsx';

/** The sessions that the service has seen, and the end of all or of the others, as the provider can. */
export function Sessions() {
  const { config, queries } = useService();
  const session = useSession();
  const list = useSessions();
  const endAll = useMutation({
    mutationFn: () => endSession(config.sign_in, 'all'),
    onSuccess: () => {
      setSession(null);
      queries.clear();
    },
  });
  const endOthers = useMutation({ mutationFn: () => endSession(config.sign_in, 'others') });
  return (
    <section className="panel" aria-labelledby="sessions-title">
      <div className="panel-head">
        <h2 id="sessions-title">Sessions</h2>
        <div className="row">
          {config.sign_in.kind === 'gotrue' && (
            <Button busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
              Sign out the others
            </Button>
          )}
          <Button kind="danger" busy={endAll.isPending} onClick={() => endAll.mutate()}>
            Sign out everywhere
          </Button>
        </div>
      </div>
      {session !== null && (
        <p>
          This tab is signed in until {showFullTime(new Date(session.expiresAt).toISOString())}
          {session.refreshToken === null ? '.' : ', and renews itself while it is open.'}
        </p>
      )}
      {(list.data?.sessions ?? []).length > 0 && (
        <ul>
          {list.data?.sessions.map(({ id, started_at, from, current }) => (
            <li key={id}>
              Began {showFullTime(started_at)}
              {from === null ? '' : ` from ${from}`}
              {current ? ' (this session)' : ''}
            </li>
          ))}
        </ul>
      )}
      {endOthers.isSuccess && <p role="status">The other sessions are ended.</p>}
      <p className="hint">
        Sign-ins of the last 30 days that the service has seen; some may have ended since. Signing out
        everywhere ends every session of this account, in this browser and in all others, this one among them.
      </p>
      <Failure error={endAll.error ?? endOthers.error ?? list.error} />
    </section>
  );
}
