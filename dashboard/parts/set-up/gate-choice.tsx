import { useState } from 'react';
import { useChange } from '../../data/hooks.ts';
import { usePatch } from '../../data/use-patch.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { Button, Foreign } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';

interface Answer {
  readonly context: string;
  readonly author: string;
}

const keyOf = ({ context, author }: Answer): string => JSON.stringify([context, author]);

/** Choice of the judge of a staged tree: a workflow of the forge, or contexts that another CI answers, chosen from what a probe showed. */
export function GateChoice({ repo }: { readonly repo: StatusEntry }) {
  const patch = usePatch(repo);
  const isByStatuses = repo.gate === 'statuses';
  return (
    <section className="panel" aria-labelledby="gate-title">
      <h2 id="gate-title">What judges a batch</h2>
      <fieldset className="radios">
        <legend>The gate is</legend>
        <label className="check">
          <input
            type="radio"
            name="gate"
            checked={!isByStatuses}
            onChange={() => patch.mutate({ gate: 'workflow' })}
          />
          <span>a workflow of the forge.</span>
        </label>
        <label className="check">
          <input
            type="radio"
            name="gate"
            checked={isByStatuses}
            onChange={() => patch.mutate({ gate: 'statuses' })}
          />
          <span>commit statuses of another CI, such as Woodpecker, Drone or Jenkins.</span>
        </label>
      </fieldset>
      {isByStatuses && <Contexts repo={repo} key={repo.id} />}
      <Problem error={patch.error} />
    </section>
  );
}

function Contexts({ repo }: { readonly repo: StatusEntry }) {
  const look = useChange((api, id: string) => api.verifyGate({ id }), [['queue']]);
  const patch = usePatch(repo);
  const [chosen, setChosen] = useState<ReadonlyMap<string, Answer>>(new Map());
  const answers = look.data?.ci_gate.probe.contexts;
  const picked = [...chosen.values()];
  const toggle = (answer: Answer): void => {
    const next = new Map(chosen);
    if (!next.delete(keyOf(answer))) next.set(keyOf(answer), answer);
    setChosen(next);
  };
  return (
    <>
      <p>
        {repo.gate_contexts.length === 0 || repo.gate_authors.length === 0
          ? 'Nothing is chosen yet, so nothing lands. Let the CI run on pushes to the branches of the queue, then look which contexts answer.'
          : 'All of these must pass on the staged commit; a status of another account never counts.'}
      </p>
      <ul aria-label="Contexts of the gate">
        {repo.gate_contexts.map((context) => (
          <li key={context}>
            <Foreign text={context} />
          </li>
        ))}
      </ul>
      {repo.gate_authors.length > 0 && (
        <p className="hint">
          Posted by <Foreign text={repo.gate_authors.join(', ')} />
        </p>
      )}
      <div className="row">
        <Button busy={look.isPending} onClick={() => look.mutate(repo.id)}>
          Look which contexts answer
        </Button>
      </div>
      {answers?.length === 0 && (
        <p role="status">Nothing has answered on the probe yet. Look again once the CI has taken it up.</p>
      )}
      {answers !== undefined && answers.length > 0 && (
        <>
          <fieldset className="radios">
            <legend>Answered on the probe</legend>
            {answers.map((answer) => (
              <label className="check" key={keyOf(answer)}>
                <input type="checkbox" checked={chosen.has(keyOf(answer))} onChange={() => toggle(answer)} />
                <span>
                  <Foreign text={answer.context} /> by <Foreign text={answer.author} />: {answer.state}
                </span>
              </label>
            ))}
          </fieldset>
          <div className="row">
            <Button
              kind="main"
              busy={patch.isPending}
              disabled={picked.length === 0}
              onClick={() =>
                patch.mutate({
                  gate_contexts: [...new Set(picked.map(({ context }) => context))],
                  gate_authors: [...new Set(picked.map(({ author }) => author))],
                })
              }
            >
              Use the chosen contexts
            </Button>
          </div>
        </>
      )}
      <Problem error={look.error ?? patch.error} />
    </>
  );
}
