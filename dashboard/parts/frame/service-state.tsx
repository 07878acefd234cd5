import { useMutation } from '@tanstack/react-query';
import { Fragment } from 'react';
import { useHealth, useService } from '../../data/hooks.ts';
import { SIGNAL_WORDS, type Signal } from '../../view/health.ts';
import type { Tone } from '../../view/tone.ts';
import { Button } from './basics.tsx';
import { Problem } from './errors.tsx';
import { Tag } from './signal.tsx';

const TONES = { ok: 'clear', degraded: 'stop', unknown: 'unknown' } as const satisfies Record<string, Tone>;
const NAMES = { ok: 'in order', degraded: 'in trouble', unknown: 'unknown' } as const;

/** Timer, looks, batches, repeated work and engine of the whole service, for its operator. */
export function ServiceState() {
  const signals = useHealth()?.signals;
  return (
    <section className="panel" aria-labelledby="service-title">
      <h2 id="service-title">The service</h2>
      <dl className="facts">
        {(Object.keys(SIGNAL_WORDS) as Signal[]).map((signal) => {
          const state = signals?.[signal] ?? 'unknown';
          const [name, trouble] = SIGNAL_WORDS[signal];
          return (
            <Fragment key={signal}>
              <dt>{name}</dt>
              <dd>
                <Tag tone={TONES[state]}>{state === 'degraded' ? trouble : NAMES[state]}</Tag>
              </dd>
            </Fragment>
          );
        })}
        <dt>Engine</dt>
        <dd>
          <Engine />
        </dd>
      </dl>
    </section>
  );
}

/** The engine is asked by a person only: the question may start an engine that sleeps. */
function Engine() {
  const { api } = useService();
  const asked = useMutation({ mutationFn: () => api.checkContainer({}) });
  return (
    <>
      {/* A 503 of this call has a body of its own, so the client gives it out as an answer. */}
      {asked.data?.ok === true && <Tag tone="clear">it answered</Tag>}
      {asked.data?.ok === false && <Tag tone="stop">it did not answer</Tag>}
      <Problem error={asked.error} />
      {asked.data === undefined && asked.error === null && <Tag tone="unknown">not asked</Tag>}{' '}
      <Button kind="quiet" busy={asked.isPending} onClick={() => asked.mutate()}>
        Ask the engine
      </Button>
    </>
  );
}
