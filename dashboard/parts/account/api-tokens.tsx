import { useState } from 'react';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { API_TOKEN_NAME_CHARS_MAX } from '#core/domain/api-limits.ts';
import { API_TOKEN_SCOPES, type ApiTokenScope } from '#core/domain/tenants/api-token.ts';
import { useChange, useQueueStatus, useTokens } from '../../data/hooks.ts';
import { showFullTime } from '../../view/format.ts';
import { Ago, Button, Copy, Field, Foreign } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { FailedCall } from '../frame/failed-call.tsx';

const TOUCHES = [['tokens']] as const;
const LIVES_DAYS = [7, 30, 90, 365];
const SCOPE_WORDS: Readonly<Record<ApiTokenScope, string>> = {
  read: 'reads repositories, queue and pull requests',
  'queue:write': 'pauses, drains, resumes and wakes queues',
  'settings:write': 'changes settings, gate and branch rule',
};
type Token = ResultOf<'listTokens'>[number];

/** Rights of their own for programs. A text is shown once, in the answer that made it. */
export function ApiTokens() {
  const tokens = useTokens();
  const status = useQueueStatus();
  const names = new Map(status.data?.repos.map((repo) => [repo.id, repo.name] as const));
  const revoke = useChange((api, id: string) => api.deleteToken({ id }), TOUCHES);
  return (
    <section className="panel" aria-labelledby="tokens-title">
      <h2 id="tokens-title">API tokens</h2>
      <p className="hint">
        For programs: scripts, agents, the command line. What a token changes stands in the audit log under
        its id. Signing out ends no token.
      </p>
      {tokens.data !== undefined && tokens.data.length > 0 && (
        <div className="table-scroll">
          <table className="stacked">
            <caption className="sr-only">API tokens, oldest first</caption>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">May</th>
                <th scope="col">Ends</th>
                <th scope="col">Last used</th>
                <th scope="col">Id</th>
                <th scope="col">
                  <span className="sr-only">Revoke</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {tokens.data.map((token) => (
                <tr key={token.id}>
                  <th scope="row">
                    <Foreign text={token.name} />
                  </th>
                  <td data-label="May">{token.scopes.map((grant) => sayGrant(grant, names)).join('; ')}</td>
                  <td data-label="Ends">{showFullTime(token.expires_at)}</td>
                  <td data-label="Last used">
                    {token.last_used_at === null ? 'never' : <Ago iso={token.last_used_at} />}
                  </td>
                  <td data-label="Id">
                    <code>{token.id.slice(0, 8)}</code>
                  </td>
                  <td>
                    <Button
                      kind="danger"
                      busy={revoke.isPending && revoke.variables === token.id}
                      aria-label={`Revoke ${token.name}`}
                      onClick={() => revoke.mutate(token.id)}
                    >
                      Revoke
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Problem error={tokens.error ?? revoke.error} />
      <MakeToken repos={[...names]} />
    </section>
  );
}

function sayGrant({ scope, repo_ids }: Token['scopes'][number], names: ReadonlyMap<string, string>): string {
  if (repo_ids === null) return scope;
  return `${scope} (${repo_ids.map((id) => names.get(id) ?? 'a repository that is gone').join(', ')})`;
}

function toggle<T>(all: readonly T[], one: T): readonly T[] {
  return all.includes(one) ? all.filter((each) => each !== one) : [...all, one];
}

const TOKEN_FAULTS = {
  name: 'A name is letters, digits and signs of ASCII, without a space at its ends.',
  expires_in_days: 'A token ends within a year.',
} as const;

function MakeToken({ repos }: { readonly repos: readonly (readonly [id: string, name: string])[] }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState(90);
  const [scopes, setScopes] = useState<readonly ApiTokenScope[]>(['read']);
  const [only, setOnly] = useState<readonly string[]>([]);
  const make = useChange(
    (api, _: null) =>
      api.createToken({
        body: {
          name: name.trim(),
          expires_in_days: days,
          scopes: scopes.map((scope) => ({ scope, repo_ids: only.length === 0 ? null : [...only] })),
        },
      }),
    TOUCHES,
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate(null, { onSuccess: () => setName('') });
      }}
    >
      <h3>Make a token</h3>
      <FailedCall error={make.error} faults={TOKEN_FAULTS}>
        <div className="pair">
          <Field label="Name" names={['name']} hint="What it is for.">
            {(ids) => (
              <input
                {...ids}
                type="text"
                required
                maxLength={API_TOKEN_NAME_CHARS_MAX}
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <Field label="Ends after" names={['expires_in_days']}>
            {(ids) => (
              <select {...ids} value={days} onChange={(event) => setDays(Number(event.target.value))}>
                {LIVES_DAYS.map((each) => (
                  <option key={each} value={each}>
                    {each} days
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <fieldset className="radios">
          <legend>It may</legend>
          {API_TOKEN_SCOPES.map((scope) => (
            <label key={scope} className="check">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={() => setScopes(toggle(scopes, scope))}
              />
              <span>
                <code>{scope}</code>: {SCOPE_WORDS[scope]}
              </span>
            </label>
          ))}
        </fieldset>
        {repos.length > 0 && (
          <fieldset className="radios">
            <legend>Only for (none chosen: all repositories, also later ones)</legend>
            {repos.map(([id, slug]) => (
              <label key={id} className="check">
                <input
                  type="checkbox"
                  checked={only.includes(id)}
                  onChange={() => setOnly(toggle(only, id))}
                />
                <span>
                  <Foreign text={slug} />
                </span>
              </label>
            ))}
          </fieldset>
        )}
      </FailedCall>
      <Button
        type="submit"
        kind="main"
        busy={make.isPending}
        disabled={name.trim() === '' || scopes.length === 0}
      >
        Make the token
      </Button>
      {make.data !== undefined && (
        <p role="status">
          Copy it now, it is not shown again: <code className="wrap">{make.data.token}</code>{' '}
          <Copy text={make.data.token} label="Copy the token" />
        </p>
      )}
    </form>
  );
}
