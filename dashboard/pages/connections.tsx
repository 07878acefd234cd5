import { useState } from 'react';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { BOT_LOGIN_CHARS_MAX } from '#core/domain/api-limits.ts';
import { KEYS, useChange, useConnections, useQueueStatus } from '../data/hooks.ts';
import {
  Ago,
  Button,
  ButtonLink,
  Confirm,
  Empty,
  Field,
  Foreign,
  Loading,
  Outward,
  PageHead,
  useTitle,
} from '../parts/frame/basics.tsx';
import { Problem, ProblemPage } from '../parts/frame/errors.tsx';
import { FailedCall } from '../parts/frame/failed-call.tsx';
import { hostOf } from '../parts/frame/repo-frame.tsx';
import { Scopes } from '../parts/set-up/connect-form.tsx';
import { path } from '../routes.ts';
import type { StatusEntry } from '../view/blocker.ts';
import { plural } from '../view/format.ts';

type Connection = ResultOf<'listConnections'>[number];
/** Null: not asked yet. */
type Forge = ResultOf<'readQueueStatus'>['repos'][number]['forge'];

/** Ends of a look that its connection may be the cause of. */
const REFUSALS: readonly StatusEntry['reconcile']['error_code'][] = [
  'forge_access_denied',
  'decryption_error',
  'connection_not_found',
];

const isRefused = ({ reconcile }: StatusEntry): boolean => REFUSALS.includes(reconcile.error_code);

export function ConnectionsPage() {
  useTitle('Connections');
  const connections = useConnections();
  const status = useQueueStatus();
  if (connections.data === undefined) {
    return connections.error === null ? (
      <Loading what="your connections" />
    ) : (
      <ProblemPage error={connections.error} onRetry={() => void connections.refetch()} />
    );
  }
  const reposOf = (id: string): number | null =>
    status.data?.repos.filter((repo) => repo.forge_conn_id === id).length ?? null;
  const refusalOf = (id: string) =>
    status.data?.repos.find((repo) => repo.forge_conn_id === id && isRefused(repo)) ?? null;
  const forgeOf = (id: string): Forge =>
    status.data?.repos.find((repo) => repo.forge_conn_id === id && repo.forge !== null)?.forge ?? null;
  return (
    <>
      <PageHead
        title="Connections"
        lead="A forge, a bot, and its token, which is encrypted and never shown again."
      >
        <ButtonLink to={`${path.start()}?connection=new`} kind="main">
          Connect a forge
        </ButtonLink>
      </PageHead>
      {connections.data.length === 0 ? (
        <Empty title="No forge yet" />
      ) : (
        <ul className="cards">
          {connections.data.map((connection) => (
            <ConnectionCard
              key={connection.id}
              connection={connection}
              repos={reposOf(connection.id)}
              forge={forgeOf(connection.id)}
              refusal={refusalOf(connection.id)}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function ConnectionCard({
  connection,
  repos,
  forge,
  refusal,
}: {
  readonly connection: Connection;
  readonly repos: number | null;
  readonly forge: Forge;
  /** A repository under it whose last look was refused. */
  readonly refusal: StatusEntry | null;
}) {
  const [open, setOpen] = useState<'token' | 'delete' | null>(null);
  const remove = useChange(
    (api, id: string) => api.deleteConnection({ id }),
    [KEYS.connections, ['queue'], KEYS.billing],
  );
  const close = (): void => setOpen(null);
  return (
    <li className="panel card">
      <div className="panel-head">
        <h2>
          {connection.bot_username} <span className="hint">on {hostOf(connection.instance_url)}</span>
        </h2>
        <div className="row">
          <Button onClick={() => setOpen(open === 'token' ? null : 'token')} aria-expanded={open === 'token'}>
            Token and login
          </Button>
          <Button kind="danger" onClick={() => setOpen('delete')}>
            Remove
          </Button>
        </div>
      </div>
      <p className="hint">
        <Outward href={connection.instance_url}>{connection.instance_url}</Outward> ·{' '}
        {repos === null ? 'Unknown repositories' : plural(repos, 'repository', 'repositories')} · since{' '}
        <Ago iso={connection.created_at} />
        {forge?.seen === true && ` · ${forge.version}`}
      </p>
      {forge?.seen === false && (
        <p className="hint">
          {forge.version} is a version that this service has not been run against. Nothing is refused: each
          landing is proven as on any other. Tell us what you see.
        </p>
      )}
      {refusal !== null && (
        <div className="problem">
          <p>
            The last look at <Foreign text={refusal.name} /> failed: {refusal.reconcile.error}
          </p>
        </div>
      )}
      {open === 'token' && <Renew connection={connection} onDone={close} />}
      <Problem error={remove.error} />
      <Confirm open={open === 'delete'} title={`Remove ${connection.bot_username}?`} onClose={close}>
        <p>
          {repos === null ? 'All repositories' : plural(repos, 'repository', 'repositories')} under it leave
          the queue with it. On the forge the queue takes back what it posted and deletes its branches, for
          which its token is kept for a day at most; scheduled auto-merges, webhooks and branch rules stay.
        </p>
        <div className="row">
          <Button
            kind="danger"
            busy={remove.isPending}
            onClick={() => remove.mutate(connection.id, { onSettled: close })}
          >
            Remove it and its repositories
          </Button>
          <Button onClick={close}>Keep it</Button>
        </div>
      </Confirm>
    </li>
  );
}

const RENEW_FAULTS = {
  token: 'This is not a token.',
  bot_login: 'The token belongs to another login, or this is not a login.',
} as const;

function Renew({ connection, onDone }: { readonly connection: Connection; readonly onDone: () => void }) {
  const [token, setToken] = useState('');
  const [login, setLogin] = useState(connection.bot_username);
  const isNamed = login !== connection.bot_username;
  const renew = useChange(
    (api, body: { readonly token?: string; readonly bot_login?: string }) =>
      api.updateConnection({ id: connection.id, body }),
    [KEYS.connections, ['queue']],
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        renew.mutate(
          { ...(token === '' ? {} : { token }), ...(isNamed ? { bot_login: login } : {}) },
          {
            onSuccess: () => {
              setToken('');
              onDone();
            },
          },
        );
      }}
    >
      <FailedCall error={renew.error} faults={RENEW_FAULTS}>
        <Field label="New access token" names={['token']} hint="Replaces the old token in one step.">
          {(ids) => (
            <input
              {...ids}
              type="password"
              autoComplete="off"
              maxLength={255}
              value={token}
              onChange={(event) => setToken(event.target.value.trim())}
            />
          )}
        </Field>
        <Field
          label="Login of the bot"
          names={['bot_login']}
          hint="As it is on the forge now, after a change of name or with the token of another bot. The forge is asked whose the token is before anything is stored."
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              autoComplete="off"
              spellCheck={false}
              required
              maxLength={BOT_LOGIN_CHARS_MAX}
              value={login}
              onChange={(event) => setLogin(event.target.value.trim())}
            />
          )}
        </Field>
        <Scopes />
      </FailedCall>
      <Button type="submit" kind="main" busy={renew.isPending} disabled={token === '' && !isNamed}>
        Store
      </Button>
    </form>
  );
}
