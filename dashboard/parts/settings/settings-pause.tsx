import { useState } from 'react';
import { ApiError } from '#core/contracts/routes/client.ts';
import { HOUR_MS, PAUSE_REASON_CHARS_MAX } from '#core/domain/api-limits.ts';
import { useChange, useNow } from '../../data/hooks.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { showClock } from '../../view/format.ts';
import { isPaused } from '../../view/pause.ts';
import { Button, Field } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';

const TOUCHES = [['queue']] as const;
const LENGTHS_HOURS = [1, 4, 12, 24, 72];

/** Holds the queue up for a while: places, schedules and proofs are kept. */
export function PauseQueue({ repo }: { readonly repo: StatusEntry }) {
  const now = useNow();
  const resume = useChange((api, id: string) => api.resumeRepo({ id }), TOUCHES);
  const { pause } = repo;
  if (!repo.queue_enabled) return null;
  if (pause === null || !isPaused(pause, now)) return <Begin repo={repo} />;
  return (
    <section className="panel" aria-labelledby="pause-title">
      <div className="panel-head">
        <h2 id="pause-title">{pause.kind === 'pause' ? 'The queue is paused' : 'The queue is drained'}</h2>
        <Button kind="main" busy={resume.isPending} onClick={() => resume.mutate(repo.id)}>
          Resume the queue
        </Button>
      </div>
      <p>
        {pause.reason === null ? 'No reason was given.' : `Reason: ${pause.reason}.`} Since{' '}
        {showClock(pause.since, now)},{' '}
        {pause.until === null ? 'until it is resumed' : `until ${showClock(pause.until, now)}`}.
      </p>
      <p className="hint">
        {pause.kind === 'pause'
          ? 'Nothing is staged and nothing lands. No pull request loses its place or its schedule.'
          : 'Batches that are under way go on to their end; nothing new is staged.'}
      </p>
      <Problem error={resume.error} />
    </section>
  );
}

function Begin({ repo }: { readonly repo: StatusEntry }) {
  const [reason, setReason] = useState('');
  const [hours, setHours] = useState(0);
  const body = () => ({
    reason: reason.trim() === '' ? null : reason.trim(),
    until: hours === 0 ? null : new Date(Date.now() + hours * HOUR_MS).toISOString(),
  });
  const begin = useChange(
    (api, kind: 'pause' | 'drain') =>
      kind === 'pause'
        ? api.pauseRepo({ id: repo.id, body: body() })
        : api.drainRepo({ id: repo.id, body: body() }),
    TOUCHES,
  );
  const isReasonWrong = begin.error instanceof ApiError && begin.error.field === 'reason';
  return (
    <section className="panel" aria-labelledby="pause-title">
      <h2 id="pause-title">Pause the queue</h2>
      <p className="hint">
        Schedules stay on the forge, and each pull request keeps its place. <em>Pause</em> also stops the
        batches that are under way, so that nothing lands; <em>Drain</em> lets them land first.
      </p>
      <div className="pair">
        <Field
          label="Reason (optional)"
          hint={`The status of each pull request that waits names this reason; ${PAUSE_REASON_CHARS_MAX} characters at most.`}
          error={isReasonWrong ? 'One line of at most 60 printable ASCII characters.' : null}
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              maxLength={PAUSE_REASON_CHARS_MAX}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="For how long"
          hint={hours === 0 ? 'It goes on once it is resumed.' : 'It goes on by itself then.'}
          error={null}
        >
          {(ids) => (
            <select {...ids} value={hours} onChange={(event) => setHours(Number(event.target.value))}>
              <option value={0}>until it is resumed</option>
              {LENGTHS_HOURS.map((length) => (
                <option key={length} value={length}>
                  {length === 1 ? '1 hour' : `${length} hours`}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <div className="row">
        <Button busy={begin.isPending} onClick={() => begin.mutate('pause')}>
          Pause the queue
        </Button>
        <Button busy={begin.isPending} onClick={() => begin.mutate('drain')}>
          Drain the queue
        </Button>
      </div>
      {!isReasonWrong && <Problem error={begin.error} />}
    </section>
  );
}
