import { useState } from 'react';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { PULL_TOPICS, type PullTopic } from '#core/domain/notices/notice-topics.ts';
import { useAuthorNotices, useChange, useService } from '../../data/hooks.ts';
import { showFullTime } from '../../view/format.ts';
import { nameTopic, sayMailbox } from '../../view/notification.ts';
import { Button, Field, Foreign, Loading } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { FailedCall } from '../frame/failed-call.tsx';

type Login = ResultOf<'readAuthorNotices'>['logins'][number];

/** Mails to the person about the pull requests that they open. Off until they ask for them. */
export function AuthorNotices() {
  const { config } = useService();
  const { data, error } = useAuthorNotices();
  return (
    <section className="panel" aria-labelledby="author-title">
      <h2 id="author-title">Mails about your own pull requests</h2>
      <p className="hint">
        Wherever this service has a queue on your forge: when a pull request that you opened is bounced,
        refused or lands. Each mail has a link that ends them. No mail holds a title.
      </p>
      {!config.sends_mail && <p>This deployment sends no mail.</p>}
      {data === undefined ? (
        error === null ? (
          <Loading what="your choice" />
        ) : (
          <Problem error={error} />
        )
      ) : (
        <>
          {data.logins.map((login) => (
            <Stored key={login.instance_url} login={login} />
          ))}
          <Ask signedInAs={data.signed_in_as} logins={data.logins} />
        </>
      )}
    </section>
  );
}

const KEYS = [['author-notices']];

function Stored({ login }: { readonly login: Login }) {
  const end = useChange(
    (api, _: undefined) =>
      api.setAuthorNotices({ body: { instance_url: login.instance_url, email: login.email, topics: [] } }),
    KEYS,
  );
  const topics = login.topics.map(nameTopic).join(', ');
  return (
    <div>
      <p>
        <strong>
          <Foreign text={`${login.login} on ${new URL(login.instance_url).host}`} />
        </strong>
        {`: ${topics}, to `}
        <Foreign text={login.email} />
        {`, until ${showFullTime(login.ends_at)}; prove your login again to go on.`}
      </p>
      <p className="hint" role="status">
        {login.email_state === null
          ? 'Whether the address is confirmed is unknown.'
          : sayMailbox(login.email_state)}
      </p>
      <Button kind="quiet" busy={end.isPending} onClick={() => end.mutate(undefined)}>
        End these mails
      </Button>
      <Problem error={end.error} />
    </div>
  );
}

const FAULTS = {
  email: 'This is not an e-mail address.',
  instance_url: 'This is no forge that the service knows: write its address as the browser shows it.',
  forge_token_required: 'The forge has to be asked once whose account is yours: paste a token of yours.',
  forge_token_refused: 'The forge does not take this token, or it lacks the scope read:user.',
} as const;

function Ask({
  signedInAs,
  logins,
}: {
  readonly signedInAs: ResultOf<'readAuthorNotices'>['signed_in_as'];
  readonly logins: readonly Login[];
}) {
  const [first] = logins;
  const [forge, setForge] = useState(signedInAs?.instance_url ?? first?.instance_url ?? '');
  const [email, setEmail] = useState(first?.email ?? '');
  const [topics, setTopics] = useState<readonly PullTopic[]>(first?.topics ?? []);
  const [token, setToken] = useState('');
  const isOwnForge = signedInAs !== null && forge === signedInAs.instance_url;
  const save = useChange(
    (api, _: undefined) =>
      api.setAuthorNotices({
        body: { ...(isOwnForge ? {} : { instance_url: forge }), email, topics },
        ...(token === '' || isOwnForge ? {} : { forgeToken: token }),
      }),
    KEYS,
  );
  const toggle = (topic: PullTopic): void =>
    setTopics(PULL_TOPICS.filter((each) => (each === topic) !== topics.includes(each)));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        // What proved the login once is held no longer than the call.
        save.mutate(undefined, { onSettled: () => setToken('') });
      }}
    >
      <fieldset className="topics">
        <legend>Mail me when a pull request of mine was</legend>
        {PULL_TOPICS.map((topic) => (
          <label key={topic} className="check">
            <input type="checkbox" checked={topics.includes(topic)} onChange={() => toggle(topic)} />
            <span>{nameTopic(topic)}</span>
          </label>
        ))}
      </fieldset>
      <FailedCall error={save.error} faults={FAULTS}>
        <Field
          label="To this address"
          names={['email']}
          hint="The reader of this address confirms it by a link before the first mail."
        >
          {(ids) => (
            <input
              {...ids}
              type="email"
              required
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <Field label="Address of the forge" names={['instance_url']}>
          {(ids) => (
            <input
              {...ids}
              type="url"
              required
              value={forge}
              onChange={(event) => setForge(event.target.value)}
            />
          )}
        </Field>
        {isOwnForge ? (
          <p className="hint">
            You are signed in there as <Foreign text={signedInAs.login} />, so nothing else is asked.
          </p>
        ) : (
          <Field
            label="A token of yours on that forge"
            names={['forge_token_required', 'forge_token_refused']}
            hint="With the scope read:user. It proves your login once and is not stored; delete it afterwards. Not needed again for another topic or address."
          >
            {(ids) => (
              <input
                {...ids}
                type="password"
                autoComplete="off"
                value={token}
                onChange={(event) => setToken(event.target.value)}
              />
            )}
          </Field>
        )}
      </FailedCall>
      <div className="row">
        <Button type="submit" kind="main" busy={save.isPending} disabled={topics.length === 0}>
          Save
        </Button>
      </div>
      {save.isSuccess && <p role="status">Saved.</p>}
    </form>
  );
}
