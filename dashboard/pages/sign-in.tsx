import { useEffect, useRef, useState } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import type { DashboardConfig, GoTrueSignIn, OfferedAccount } from '#core/contracts/internal/dashboard.ts';
import { useService, useSession } from '../data/hooks.ts';
import {
  finishSignIn,
  SignInError,
  sendSignInLink,
  signInWithPassword,
  startHostedSignIn,
  startProviderSignIn,
} from '../data/session.ts';
import { FirstStart } from '../parts/account/first-start.tsx';
import { SessionEnd } from '../parts/account/session-end.tsx';
import { Button, Field, Loading, useTitle } from '../parts/frame/basics.tsx';
import { Signal } from '../parts/frame/signal.tsx';
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
    <>
      <div className="gatehouse">
        <div className="gatehouse-pitch">
          <Yard />
          <h1 tabIndex={-1}>Sign in to Mergeyard</h1>
          <p className="lead">
            See what your queue waits for, why a pull request does not merge, and the proof of everything that
            landed.
          </p>
          <SessionEnd />
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
          ) : signIn.provider !== undefined ? (
            <ProviderButton
              signIn={signIn}
              provider={signIn.provider}
              backTo={backTo}
              busy={busy}
              run={run}
            />
          ) : (
            <>
              {config.accounts !== undefined && (
                <Accounts accounts={config.accounts} signIn={signIn} busy={busy} run={run} />
              )}
              <PasswordForm
                signIn={signIn}
                mayCreate={config.sign_up === 'open'}
                backTo={backTo}
                busy={busy}
                run={run}
              />
            </>
          )}
          {config.sign_up === 'closed' && !hasProvider(signIn) && (
            <p className="hint">An account is made by invitation: ask the person who runs this service.</p>
          )}
          {failure !== null && (
            <p className="field-error" role="alert">
              {failure}
            </p>
          )}
        </div>
      </div>
      <FirstStart />
    </>
  );
}

function hasProvider(signIn: DashboardConfig['sign_in']): boolean {
  return signIn.kind === 'gotrue' && signIn.provider !== undefined;
}

function ProviderButton({
  signIn,
  provider,
  backTo,
  busy,
  run,
}: {
  readonly signIn: GoTrueSignIn;
  readonly provider: { readonly id: string; readonly label: string };
  readonly backTo: string;
  readonly busy: string | null;
  readonly run: Run;
}) {
  return (
    <Button
      kind="main"
      busy={busy === 'provider'}
      onClick={() => run('provider', () => startProviderSignIn(signIn, provider.id, backTo))}
    >
      Sign in with {provider.label}
    </Button>
  );
}

/** The meaning of the name: several tracks, one by one to the main line. */
function Yard() {
  return (
    <svg className="gatehouse-yard" viewBox="0 0 420 150" aria-hidden="true" focusable="false">
      <path
        className="yard-track"
        d="M10 75H410M10 25H120C175 25 175 75 230 75M10 125H170C225 125 225 75 280 75M60 75"
      />
      {[30, 62, 94].map((x) => (
        <rect key={`a${x}`} className="yard-car" x={x} y="17" width="26" height="16" rx="3" />
      ))}
      {[52, 84].map((x) => (
        <rect key={`b${x}`} className="yard-car" x={x} y="67" width="26" height="16" rx="3" />
      ))}
      <rect className="yard-car yard-car-stop" x="96" y="117" width="26" height="16" rx="3" />
      {[312, 344, 376].map((x) => (
        <rect key={`c${x}`} className="yard-car yard-car-done" x={x} y="67" width="26" height="16" rx="3" />
      ))}
      <path className="yard-ticks" d="M319 75l4 4 7-8M351 75l4 4 7-8M383 75l4 4 7-8" />
      <path className="yard-cross" d="M104 121l10 8M114 121l-10 8" />
    </svg>
  );
}

type Run = (what: string, act: () => Promise<void>) => void;

/** Accounts that this deployment offers on the page, as a run on one's own machine does. */
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
      {accounts
        .filter((account) => account.apart !== true)
        .map((account, index) => (
          <Account
            key={account.email}
            account={account}
            kind={index === 0 ? 'main' : 'plain'}
            signIn={signIn}
            busy={busy}
            run={run}
          />
        ))}
      {accounts.some((account) => account.apart === true) && (
        <details>
          <summary>Accounts in trouble, to see what that looks like</summary>
          {accounts
            .filter((account) => account.apart === true)
            .map((account) => (
              <Account
                key={account.email}
                account={account}
                kind="quiet"
                signIn={signIn}
                busy={busy}
                run={run}
              />
            ))}
        </details>
      )}
    </section>
  );
}

function Account({
  account,
  kind,
  signIn,
  busy,
  run,
}: {
  readonly account: OfferedAccount;
  readonly kind: 'main' | 'plain' | 'quiet';
  readonly signIn: GoTrueSignIn;
  readonly busy: string | null;
  readonly run: Run;
}) {
  const { label, email, password } = account;
  return (
    <Button
      kind={kind}
      busy={busy === email}
      disabled={busy !== null}
      onClick={() => run(email, () => signInWithPassword(signIn, email, password))}
    >
      Sign in as {label}
    </Button>
  );
}

function PasswordForm({
  signIn,
  mayCreate,
  backTo,
  busy,
  run,
}: {
  readonly signIn: GoTrueSignIn;
  readonly mayCreate: boolean;
  readonly backTo: string;
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
              setSent(false);
              await sendSignInLink(signIn, email, mayCreate, backTo);
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
        <FirstStart />
      </div>
    </div>
  );
}
