import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { CognitoSignIn } from '#core/contracts/dashboard.ts';
import { SignInError } from '../data/ask-provider.ts';
import { useService, useSession, useSessions } from '../data/hooks.ts';
import { confirmFactor, readFactors, startFactor } from '../data/second-factor.ts';
import { endSession, passkeyPage, setSession } from '../data/session.ts';
import { showFullTime } from '../view/format.ts';
import { Button, Copy, Field } from './basics.tsx';

const say = (error: unknown): string | null =>
  error === null
    ? null
    : error instanceof SignInError
      ? error.message
      : 'That did not work. Try again in a moment.';

function Failure({ error }: { readonly error: unknown }) {
  const words = say(error);
  return words === null ? null : (
    <p className="field-error" role="alert">
      {words}
    </p>
  );
}

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
      <Failure error={endAll.error ?? endOthers.error} />
    </section>
  );
}

/** A second factor by an app, where the provider is Cognito; other providers have pages of their own for it. */
export function SecondFactor() {
  const { config } = useService();
  return config.sign_in.kind === 'cognito' && config.sign_in.endpoint !== '' ? (
    <CognitoFactor signIn={config.sign_in} />
  ) : null;
}

function CognitoFactor({ signIn }: { readonly signIn: CognitoSignIn }) {
  const session = useSession();
  const [code, setCode] = useState('');
  const read = useMutation({ mutationFn: () => readFactors(signIn) });
  const start = useMutation({ mutationFn: () => startFactor(signIn) });
  const confirm = useMutation({ mutationFn: () => confirmFactor(signIn, code) });
  const isOn = confirm.isSuccess || read.data === true;
  return (
    <section className="panel" aria-labelledby="factor-title">
      <div className="panel-head">
        <h2 id="factor-title">Second factor</h2>
        {start.data === undefined && !isOn && (
          <div className="row">
            <Button busy={read.isPending} onClick={() => read.mutate()}>
              Is it on?
            </Button>
            <Button kind="main" busy={start.isPending} onClick={() => start.mutate()}>
              Set it up
            </Button>
          </div>
        )}
      </div>
      <p className="hint">
        A code of an app on your phone, asked at each sign-in beside the password. An administrator has no
        rights over other accounts without it.
      </p>
      <p className="hint">
        A passkey signs in without a password, on a device that knows you.{' '}
        <a href={passkeyPage(signIn)} target="_blank" rel="noreferrer">
          Add a passkey
        </a>{' '}
        on the page of the identity provider; close that page when it is done.
      </p>
      {isOn && <p role="status">It is on. Each sign-in asks for a code.</p>}
      {read.data === false && start.data === undefined && <p role="status">It is off.</p>}
      {start.data !== undefined && !isOn && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            confirm.mutate();
          }}
        >
          <p>
            Add an account by key in the app, named {session?.email ?? 'as you like'}, with this key:{' '}
            <code>{start.data}</code> <Copy text={start.data} label="Copy the key" />
          </p>
          <Field label="Code that the app shows now">
            {(ids) => (
              <input
                {...ids}
                type="text"
                inputMode="numeric"
                autoComplete="one-time-code"
                pattern="[0-9]{6}"
                required
                value={code}
                onChange={(event) => setCode(event.target.value.trim())}
              />
            )}
          </Field>
          <Button type="submit" kind="main" busy={confirm.isPending} disabled={code.length !== 6}>
            Switch it on
          </Button>
        </form>
      )}
      <Failure error={confirm.error ?? start.error ?? read.error} />
    </section>
  );
}
