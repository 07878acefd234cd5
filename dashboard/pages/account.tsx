import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { AUDIT_KEPT_MS, DAY_MS } from '#core/domain/api-limits.ts';
import { useMe, useService, useSession } from '../data/hooks.ts';
import { setSession } from '../data/session.ts';
import { ApiTokens } from '../parts/account/api-tokens.tsx';
import { AuthorNotices } from '../parts/account/author-notices.tsx';
import { SecondFactor } from '../parts/account/second-factor.tsx';
import { Sessions } from '../parts/account/sessions.tsx';
import { Button, Copy, Field, Foreign, Loading, PageHead, useTitle } from '../parts/frame/basics.tsx';
import { Problem, ProblemPage } from '../parts/frame/errors.tsx';
import { FailedCall } from '../parts/frame/failed-call.tsx';
import { path } from '../routes.ts';
import { showFullTime, showNumber } from '../view/format.ts';

export function AccountPage() {
  useTitle('Account');
  const me = useMe();
  const session = useSession();
  const [gone, setGone] = useState<ResultOf<'offboardTenant'> | null>(null);
  if (gone !== null) return <Farewell gone={gone} />;
  if (me.data === undefined) {
    return me.error === null ? (
      <Loading what="your account" />
    ) : (
      <ProblemPage error={me.error} onRetry={() => void me.refetch()} />
    );
  }
  return (
    <>
      <PageHead title="Account" lead={session?.email ?? undefined} />
      <section className="panel">
        <h2>Tenant id</h2>
        <p className="hint">
          The name of this account in the service. Its operator asks for it, and so does the deletion below.
        </p>
        <p className="row">
          <code>{me.data.id}</code> <Copy text={me.data.id} label="Copy the tenant id" />
        </p>
      </section>
      <Sessions />
      <SecondFactor />
      <ApiTokens />
      <AuthorNotices />
      <AuditLog />
      <Export />
      <Offboard id={me.data.id} onGone={setGone} />
    </>
  );
}

/** Shown of the newest; the file of the export has more. */
const AUDIT_ROWS_SHOWN = 50;

/** Who changed what. Read when it is asked for: it is part of the export, which is large. */
function AuditLog() {
  const { api } = useService();
  const read = useMutation({ mutationFn: () => api.exportTenant() });
  const rows = read.data?.audit_log.slice(0, AUDIT_ROWS_SHOWN) ?? null;
  return (
    <section className="panel" aria-labelledby="audit-title">
      <div className="panel-head">
        <h2 id="audit-title">Audit log</h2>
        <Button busy={read.isPending} onClick={() => read.mutate()}>
          {rows === null ? 'Show the newest changes' : 'Read again'}
        </Button>
      </div>
      <p className="hint">Every change of connections, repositories, settings and plan, newest first.</p>
      {rows !== null && rows.length === 0 && <p role="status">Nothing was changed yet.</p>}
      {rows !== null && rows.length > 0 && (
        <div className="table-scroll">
          <table className="stacked">
            <caption className="sr-only">Changes, newest first</caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">What</th>
                <th scope="col">Of</th>
                <th scope="col">By</th>
                <th scope="col">From</th>
                <th scope="col">Result</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id}>
                  <td data-label="When">{showFullTime(row.at)}</td>
                  <th scope="row">{row.action}</th>
                  <td data-label="Of">
                    <Foreign text={row.target} />
                  </td>
                  <td data-label="By">
                    <Foreign text={row.actor} />
                  </td>
                  <td data-label="From">{row.from ?? '–'}</td>
                  <td data-label="Result">{row.result}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {read.data !== undefined && read.data.audit_log.length > AUDIT_ROWS_SHOWN && (
        <p className="hint">{sayMore(read.data.audit_log.length, read.data.audit_log_truncated)}</p>
      )}
      <Problem error={read.error} />
    </section>
  );
}

function sayMore(exported: number, isCut: boolean): string {
  const count = showNumber(exported);
  return isCut
    ? `The newest ${AUDIT_ROWS_SHOWN}; the export has the newest ${count}, and not the older ones.`
    : `The newest ${AUDIT_ROWS_SHOWN} of ${count}; the export has them all.`;
}

/** Everything that is stored, as a file. Secrets are in it as the word [redacted]. */
function Export() {
  const { api } = useService();
  const read = useMutation({
    mutationFn: () => api.exportTenant(),
    onSuccess: (document_) => {
      const url = URL.createObjectURL(
        new Blob([JSON.stringify(document_, null, 2)], { type: 'application/json' }),
      );
      const link = document.createElement('a');
      link.href = url;
      link.download = `mergeyard-${document_.tenant.id}.json`;
      link.click();
      URL.revokeObjectURL(url);
    },
  });
  return (
    <section className="panel">
      <div className="panel-head">
        <h2>Export</h2>
        <Button busy={read.isPending} onClick={() => read.mutate()}>
          Download everything
        </Button>
      </div>
      <p className="hint">
        Connections, repositories, outcomes, audit log, plan. Tokens and secrets stay out: the file says{' '}
        <code>[redacted]</code> where they would be.
      </p>
      {read.data !== undefined && (
        <p role="status" className="hint">
          Downloaded.
          {read.data.audit_log_truncated || read.data.reconcile_status_truncated
            ? ' It was cut: only the newest rows are in it.'
            : ''}
        </p>
      )}
      <Problem error={read.error} />
    </section>
  );
}

function Offboard({
  id,
  onGone,
}: {
  readonly id: string;
  readonly onGone: (gone: ResultOf<'offboardTenant'>) => void;
}) {
  const { api } = useService();
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    mutationFn: () => api.offboardTenant({ body: { confirm: typed } }),
    onSuccess: onGone,
  });
  return (
    <section className="panel danger-zone" aria-labelledby="offboard-title">
      <h2 id="offboard-title">Delete this account</h2>
      <p>
        A subscription is cancelled first; if the payment provider refuses, nothing is deleted. Then every
        queue takes back what it posted, which takes half a minute, or an hour at most if a forge is away.
        Then repositories, connections with their tokens, outcomes, audit log and plan are deleted. There is
        no undo. What was done in the last {AUDIT_KEPT_MS / DAY_MS} days is kept for as long again, without a
        name, a network or an id. Webhooks and branch rules stay on the forge: remove the required check
        there, or nothing merges any more.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          remove.mutate();
        }}
      >
        <FailedCall error={remove.error} faults={{ confirm_mismatch: 'This is not the id of this account.' }}>
          <Field label="Type your tenant id to confirm" names={['confirm_mismatch']}>
            {(ids) => (
              <input
                {...ids}
                type="text"
                autoComplete="off"
                spellCheck={false}
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Field>
        </FailedCall>
        <Button type="submit" kind="danger" busy={remove.isPending} disabled={typed !== id}>
          {typed === id ? 'Delete everything' : 'The id does not match yet'}
        </Button>
      </form>
    </section>
  );
}

function Farewell({ gone }: { readonly gone: ResultOf<'offboardTenant'> }) {
  const { queries } = useService();
  const [, navigate] = useLocation();
  return (
    <>
      <PageHead title="Everything is deleted" lead="These were deleted:" />
      <dl className="facts panel">
        {Object.entries(gone.deleted).map(([what, count]) => (
          <div key={what} className="fact">
            <dt>{what.replaceAll('_', ' ')}</dt>
            <dd>{showNumber(count)}</dd>
          </div>
        ))}
      </dl>
      <Button
        kind="main"
        onClick={() => {
          setSession(null);
          queries.clear();
          navigate(path.signIn());
        }}
      >
        Back to sign-in
      </Button>
    </>
  );
}
