import { useState } from 'react';
import { ApiError, type ResultOf } from '#core/contracts/routes/client.ts';
import { CHAT_URL_CHARS_MAX } from '#core/domain/api-limits.ts';
import { useChange, useDeliveries } from '../../data/hooks.ts';
import type { RepoActivity, StatusEntry } from '../../view/blocker.ts';
import { showFullTime } from '../../view/format.ts';
import { Button, Copy, Field } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';

type Delivery = ResultOf<'listDeliveries'>['deliveries'][number];

/** A test is sent within seconds; its first try may take a time-out. */
const TEST_AWAITED_MS = 60_000;

/** The signed webhook of notices, with the log of its last deliveries. */
export function NoticeWebhook({
  repo,
  stored,
}: {
  readonly repo: StatusEntry;
  readonly stored: RepoActivity['notification'];
}) {
  const { id } = repo;
  const [url, setUrl] = useState('');
  const make = useChange(
    (api, given: string) => api.setNoticeWebhook({ id, body: { url: given } }),
    [['queue'], ['deliveries']],
  );
  const remove = useChange((api, _: undefined) => api.removeNoticeWebhook({ id }), [['queue']]);
  const test = useChange((api, _: undefined) => api.testNotices({ id }), [['deliveries']]);
  const host = stored?.webhook ?? null;
  const wrong = make.error instanceof ApiError && make.error.field === 'url';
  return (
    <section className="panel" aria-labelledby="webhook-title">
      <h2 id="webhook-title">A webhook of your own</h2>
      <p className="hint">
        {host === null ? 'None is set.' : `Now: ${host}.`} Requests are signed as the Standard Webhooks
        specification says, and are tried again for three days until they are taken.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate(url.trim(), { onSuccess: () => setUrl('') });
        }}
      >
        <Field
          label="Address of the webhook"
          hint="https, a public host, no port."
          error={
            wrong ? 'This is not an address that can be used: https, a public host, no port in it.' : null
          }
        >
          {(ids) => (
            <input
              {...ids}
              type="url"
              required
              maxLength={CHAT_URL_CHARS_MAX}
              autoComplete="off"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          )}
        </Field>
        {!wrong && <Problem error={make.error} />}
        <div className="row">
          <Button type="submit" kind="main" busy={make.isPending}>
            {host === null ? 'Set the webhook' : 'Replace the webhook and its secret'}
          </Button>
          {host !== null && (
            <Button
              kind="quiet"
              busy={remove.isPending}
              onClick={() => remove.mutate(undefined, { onSuccess: () => make.reset() })}
            >
              Remove the webhook
            </Button>
          )}
        </div>
      </form>
      {make.data !== undefined && (
        <p role="status">
          Its secret, which is shown this once: <code className="wrap">{make.data.secret}</code>{' '}
          <Copy text={make.data.secret} label="Copy the secret" key={make.data.secret} />
        </p>
      )}
      <Problem error={remove.error} />
      <div className="row">
        <Button busy={test.isPending} disabled={stored === null} onClick={() => test.mutate(undefined)}>
          Send a test to all places
        </Button>
        <span role="status" className="hint">
          {test.isSuccess ? 'A test is on its way.' : ''}
        </span>
      </div>
      <Problem error={test.error} />
      <Deliveries id={id} awaitedUntil={test.isSuccess ? test.submittedAt + TEST_AWAITED_MS : 0} />
    </section>
  );
}

function Deliveries({ id, awaitedUntil }: { readonly id: string; readonly awaitedUntil: number }) {
  const { data, error } = useDeliveries(id, awaitedUntil);
  if (data === undefined) return <Problem error={error} />;
  if (data.deliveries.length === 0) return <p className="hint">Nothing was sent to a webhook yet.</p>;
  return (
    <div className="table-scroll">
      <table className="stacked">
        <caption>Last deliveries to the webhook</caption>
        <thead>
          <tr>
            {['Time', 'Kind', 'State', 'Answer', 'Attempts', 'Next attempt'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.deliveries.map((delivery) => (
            <tr key={`${delivery.at} ${delivery.id}`}>
              <th scope="row">{showFullTime(delivery.at)}</th>
              <td data-label="Kind">{delivery.kind}</td>
              <td data-label="State">{WORDS[delivery.state]}</td>
              <td data-label="Answer">{sayAnswer(delivery)}</td>
              <td data-label="Attempts">{delivery.attempts}</td>
              <td data-label="Next attempt">
                {delivery.next_at === null ? 'none' : showFullTime(delivery.next_at)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const WORDS: Readonly<Record<Delivery['state'], string>> = {
  waiting: 'waiting',
  delivered: 'delivered',
  given_up: 'given up',
};

function sayAnswer({ status, attempts }: Delivery): string {
  if (status !== null) return `status ${status}`;
  return attempts === 0 ? 'not tried yet' : 'no answer';
}
