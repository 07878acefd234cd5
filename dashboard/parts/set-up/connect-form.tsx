import { Fragment, useState } from 'react';
import { BOT_SCOPES } from '#core/domain/forge/token-scopes.ts';
import { KEYS, useChange, useService, useSession } from '../../data/hooks.ts';
import { Button, Field } from '../frame/basics.tsx';
import { FailedCall } from '../frame/failed-call.tsx';

const FAULTS = {
  instance_url:
    'This is not an address that can be used: https, a public host, no user name and nothing from a ? or # on.',
  bot_login: 'The token belongs to another login, or this is not a login.',
  token: 'This is not a token.',
} as const;
type Name = keyof typeof FAULTS;

/** A forge, a bot, its token: pasted once, checked at once, never shown again. */
export function ConnectForm({ onDone }: { readonly onDone: (id: string) => void }) {
  const { config } = useService();
  const session = useSession();
  const offered = config.accounts?.find((account) => account.email === session?.email)?.forge;
  const empty = { instance_url: config.forge ?? '', bot_login: '', token: '' };
  const [form, setForm] = useState<Readonly<Record<Name, string>>>(empty);
  const connect = useChange(
    (api, body: Readonly<Record<Name, string>>) => api.createConnection({ body }),
    [KEYS.connections, ['queue']],
  );
  const set = (name: Name) => (event: React.ChangeEvent<HTMLInputElement>) =>
    setForm({ ...form, [name]: event.target.value.trim() });
  return (
    <form
      className="connect"
      onSubmit={(event) => {
        event.preventDefault();
        connect.mutate(form, {
          onSuccess: ({ id }) => {
            // The token leaves the page's memory with the form.
            setForm(empty);
            onDone(id);
          },
        });
      }}
    >
      {offered !== undefined && (
        <p className="offer">
          This deployment has a forge of its own to try things on.{' '}
          <Button kind="quiet" onClick={() => setForm(offered)}>
            Fill in its address and bot
          </Button>
        </p>
      )}
      <FailedCall error={connect.error} faults={FAULTS}>
        <Field
          label="Forge address"
          hint="https://, as you open it in the browser. Forgejo and Gitea."
          names={['instance_url']}
        >
          {(ids) => (
            <input
              {...ids}
              type="url"
              inputMode="url"
              required
              maxLength={160}
              value={form.instance_url}
              onChange={set('instance_url')}
              placeholder="https://git.example.org"
            />
          )}
        </Field>
        <Field
          label="Bot login"
          hint="An account of its own, administrator of the repositories, so that it can edit the branch rule and add a webhook."
          names={['bot_login']}
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              autoComplete="off"
              required
              maxLength={64}
              value={form.bot_login}
              onChange={set('bot_login')}
            />
          )}
        </Field>
        <Field
          label="Access token of the bot"
          hint="Pasted once. It is checked with the forge, encrypted, and never shown again."
          names={['token']}
        >
          {(ids) => (
            <input
              {...ids}
              type="password"
              autoComplete="off"
              required
              maxLength={255}
              value={form.token}
              onChange={set('token')}
            />
          )}
        </Field>
        {config.forge !== undefined && <ForgePages forge={config.forge} />}
        <Scopes />
      </FailedCall>
      <Button type="submit" kind="main" busy={connect.isPending}>
        Connect
      </Button>
    </form>
  );
}

/** The very pages of the forge where account, token and rights of the bot are made. */
function ForgePages({ forge }: { readonly forge: string }) {
  const link = (to: string, name: string) => (
    <a href={`${forge}${to}`} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
  return (
    <ol className="hint">
      <li>
        Make the bot's account: {link('/user/sign_up', 'register')}, or as an administrator of the forge.
      </li>
      <li>
        Signed in as the bot, make its token: {link('/user/settings/applications', 'Settings, Applications')}.
      </li>
      <li>Make the bot an administrator of each repository: its Settings, Collaborators, on the forge.</li>
    </ol>
  );
}

export function Scopes() {
  return (
    <details className="scopes">
      <summary>Which scopes the token needs, and why</summary>
      <dl>
        {BOT_SCOPES.map(({ scope, why }) => (
          <Fragment key={scope}>
            <dt>
              <code>{scope}</code>
            </dt>
            <dd>{why}</dd>
          </Fragment>
        ))}
      </dl>
      <p>
        It never pushes to your base branch and never merges: the forge does that itself, once the status says
        so.
      </p>
    </details>
  );
}
