import { useEffect, useRef, useState } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import type { GoTrueSignIn, OfferedAccount } from '#core/contracts/dashboard.ts';
import { useService, useSession } from '../data/hooks.ts';
import {
  finishSignIn,
  SignInError,
  sendSignInLink,
  signInWithPassword,
  startHostedSignIn,
} from '../data/session.ts';
import { Button, Field, Loading, useTitle } from '../parts/basics.tsx';
import { Signal } from '../parts/signal.tsx';
import { path, safeBackTo } from '../routes.ts';

function useBackTo(): string {
  return safeBackTo(new URLSearchParams(useSearch()).get('back'));
}

function sayFailure(error: unknown): string {
  return error instanceof SignInError ? error.message : 'That did not work. Try again.';
}

export function SignInPage() {
  useTitle('Sign in');
  const { config } = useService();
  const session = useSession();
  const backTo = useBackTo();
  const [busy, setBusy] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  if (session !== null) return <Redirect to={backTo} replace />;
  const run = (what: string, act: () => Promise<void>): void => {
    setBusy(what);
    setFailure(null);
    act().catch((error: unknown) => {
      setFailure(sayFailure(error));
      setBusy(null);
    });
  };
  const { sign_in: signIn } = config;
  return (
    <div className="gatehouse">
      <div className="gatehouse-pitch">
        <Signal tone="clear" size="large" />
        <h1 tabIndex={-1}>Sign in to Mergeyard</h1>
        <p className="lead">
          See what your queue waits for, why a pull request does not merge, and the proof of everything that
          landed.
        </p>
      </div>
      <div className="panel gatehouse-form">
        {signIn.kind === 'cognito' ? (
          <Button
            kind="main"
            busy={busy === 'hosted'}
            onClick={() => run('hosted', () => startHostedSignIn(signIn, backTo))}
          >
            Continue to sign-in
          </Button>
        ) : (
          <>
            {config.accounts !== undefined && (
              <Accounts accounts={config.accounts} signIn={signIn} busy={busy} run={run} />
            )}
            <PasswordForm signIn={signIn} busy={busy} run={run} />
          </>
        )}
        {failure !== null && (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
      </div>
    </div>
  );
}

type Run = (what: string, act: () => Promise<void>) => void;

/** Accounts that this deployment offers to everybody who can open the page: a run on one's own machine. */
function Accounts({
  accounts,
  signIn,
  busy,
  run,
}: {
  readonly accounts: readonly OfferedAccount[];
  readonly signIn: GoTrueSignIn;
  readonly busy: string | null;
  readonly run: Run;
}) {
  return (
    <section className="accounts" aria-label="Accounts of this deployment">
      <h2>One click</h2>
      {accounts.map(({ label, email, password }) => (
        <Button
          key={email}
          kind="main"
          busy={busy === email}
          disabled={busy !== null}
          onClick={() => run(email, () => signInWithPassword(signIn, email, password))}
        >
          Sign in as {label}
        </Button>
      ))}
    </section>
  );
}

function PasswordForm({
  signIn,
  busy,
  run,
}: {
  readonly signIn: GoTrueSignIn;
  readonly busy: string | null;
  readonly run: Run;
}) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [sent, setSent] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run('password', () => signInWithPassword(signIn, email, password));
      }}
    >
      <Field label="E-mail">
        {(ids) => (
          <input
            {...ids}
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label="Password">
        {(ids) => (
          <input
            {...ids}
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <div className="row">
        <Button
          type="submit"
          busy={busy === 'password'}
          disabled={busy !== null || email === '' || password === ''}
        >
          Sign in
        </Button>
        <Button
          kind="quiet"
          busy={busy === 'link'}
          disabled={busy !== null || email === ''}
          onClick={() =>
            run('link', async () => {
              await sendSignInLink(signIn, email);
              setSent(true);
            })
          }
        >
          Mail me a link instead
        </Button>
      </div>
      {sent && (
        <p className="hint" role="status">
          If that address is known, a link is on its way.
        </p>
      )}
    </form>
  );
}

/** Where the hosted page and the mailed link come back to. */
export function CallbackPage() {
  useTitle('Signing in');
  const { config } = useService();
  const [, navigate] = useLocation();
  const [failure, setFailure] = useState<string | null>(null);
  const begun = useRef(false);
  useEffect(() => {
    // A code works once: asked twice, the second answer would hide the first.
    if (begun.current) return;
    begun.current = true;
    finishSignIn(config.sign_in).then(
      (backTo) => navigate(backTo, { replace: true }),
      (error: unknown) => setFailure(sayFailure(error)),
    );
  }, [config, navigate]);
  if (failure === null) return <Loading what="your session" />;
  return (
    <div className="problem-page">
      <Signal tone="stop" size="large" />
      <div>
        <h1 tabIndex={-1}>You were not signed in</h1>
        <p className="lead" role="alert">
          {failure}
        </p>
        <Button kind="main" onClick={() => navigate(path.signIn())}>
          Back to sign-in
        </Button>
      </div>
    </div>
  );
}
