import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { CognitoSignIn, GoTrueSignIn } from '#core/contracts/internal/dashboard.ts';
import { useService, useSession } from '../../data/hooks.ts';
import {
  type AppFactor,
  confirmFactor,
  openAppFactor,
  readFactors,
  showAppCode,
  startFactor,
} from '../../data/second-factor.ts';
import { levelOf, passkeyPage, setSession } from '../../data/session.ts';
import { Button, Copy, Field } from '../frame/basics.tsx';
import { Failure } from './sign-in-failure.tsx';

/** A second factor by an app, as far as the provider has one. */
export function SecondFactor() {
  const { config } = useService();
  const session = useSession();
  const { sign_in: signIn } = config;
  if (signIn.kind === 'cognito') return signIn.endpoint === '' ? null : <CognitoFactor signIn={signIn} />;
  const level = session === null ? null : levelOf(session);
  return level === null ? null : <SessionLevel signIn={signIn} level={level} />;
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
              Check whether it is on
            </Button>
            <Button kind="main" busy={start.isPending} onClick={() => start.mutate()}>
              Set it up
            </Button>
          </div>
        )}
      </div>
      <p className="hint">
        A code of an app on your phone, asked at each sign-in beside the password. An administrator has no
        rights over other accounts without it, and none in a session that began without it.
      </p>
      <p className="hint">
        A passkey signs in without a password, on a device that knows you.{' '}
        <a href={passkeyPage(signIn)} target="_blank" rel="noreferrer">
          Add a passkey
        </a>{' '}
        on the page of the identity provider; close that page when it is done.
      </p>
      {confirm.isSuccess && (
        <p role="status">
          It is on, and all sessions of this account are ended.{' '}
          <Button kind="main" onClick={() => setSession(null)}>
            Sign in again
          </Button>
        </p>
      )}
      {read.data === true && !confirm.isSuccess && (
        <p role="status">It is on. Each sign-in asks for a code.</p>
      )}
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
            <code className="wrap">{start.data}</code> <Copy text={start.data} label="Copy the key" />
          </p>
          <CodeField code={code} onCode={setCode} />
          <Button type="submit" kind="main" busy={confirm.isPending} disabled={code.length !== 6}>
            Switch it on
          </Button>
        </form>
      )}
      <Failure error={confirm.error ?? start.error ?? read.error} />
    </section>
  );
}

function CodeField({ code, onCode }: { readonly code: string; readonly onCode: (code: string) => void }) {
  return (
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
          onChange={(event) => onCode(event.target.value.trim())}
        />
      )}
    </Field>
  );
}

/** The second factor of this session, where the provider is GoTrue: a code raises its level. */
function SessionLevel({ signIn, level }: { readonly signIn: GoTrueSignIn; readonly level: string }) {
  const session = useSession();
  const [code, setCode] = useState('');
  const start = useMutation({ mutationFn: () => openAppFactor(signIn) });
  const show = useMutation({ mutationFn: (factor: AppFactor) => showAppCode(signIn, factor, code) });
  const isShown = level !== 'aal1';
  const factor = start.data;
  return (
    <section className="panel" aria-labelledby="factor-title">
      <div className="panel-head">
        <h2 id="factor-title">Second factor</h2>
        {factor === undefined && !isShown && (
          <div className="row">
            <Button kind="main" busy={start.isPending} onClick={() => start.mutate()}>
              Use an app
            </Button>
          </div>
        )}
      </div>
      <p className="hint">
        A code of an app on your phone. An administrator has rights over other accounts only in a session that
        has shown one.
      </p>
      {isShown ? (
        <p role="status">This session has shown one.</p>
      ) : (
        factor === undefined && <p>This session has shown none.</p>
      )}
      {factor !== undefined && !isShown && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            show.mutate(factor);
          }}
        >
          {factor.key !== null && (
            <p>
              Add an account by key in the app, named {session?.email ?? 'as you like'}, with this key:{' '}
              <code className="wrap">{factor.key}</code> <Copy text={factor.key} label="Copy the key" />
            </p>
          )}
          <CodeField code={code} onCode={setCode} />
          <Button type="submit" kind="main" busy={show.isPending} disabled={code.length !== 6}>
            Show it
          </Button>
        </form>
      )}
      <Failure error={show.error ?? start.error} />
    </section>
  );
}
