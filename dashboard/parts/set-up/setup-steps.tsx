import { useChange } from '../../data/hooks.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { listSteps, type Step, tellGateEvents } from '../../view/provisioning.ts';
import { Button, Outward } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { Tag } from '../frame/signal.tsx';

const TOUCHES = [['queue']] as const;

/** Gate, protection and webhook of one repository: a tick or the exact fix, and the button that does it. */
export function SetupSteps({ repo }: { readonly repo: StatusEntry }) {
  const events = tellGateEvents(repo);
  return (
    <>
      <ol className="steps" aria-label={`Setup of ${repo.name}`}>
        {listSteps(repo).map((step) => (
          <SetupStep key={step.id} step={step} repo={repo} />
        ))}
      </ol>
      {events !== null && <p className="hint">{events}.</p>}
    </>
  );
}

/** A repository that is ready, in one line. */
export function SetupSummary({ repo }: { readonly repo: StatusEntry }) {
  const events = tellGateEvents(repo);
  return (
    <ul className="setup-summary" aria-label={`Setup of ${repo.name}`}>
      {listSteps(repo).map(({ id, title, tone, state }) => (
        <li key={id}>
          {title} <Tag tone={tone}>{state}</Tag>
        </li>
      ))}
      {events !== null && <li>{events}</li>}
    </ul>
  );
}

function SetupStep({ step, repo }: { readonly step: Step; readonly repo: StatusEntry }) {
  const act = useChange(async (api, action: Step['action']) => {
    const { id } = repo;
    switch (action) {
      case 'setup_pr':
        return void (await api.openSetupPull({ id }));
      case 'verify':
        return void (await api.verifyGate({ id }));
      case 'protect':
        return void (await api.protectRepo({ id, body: { enabled: true } }));
      default:
        return void (await api.provisionRepo({ id }));
    }
  }, TOUCHES);
  const verify = useChange((api, id: string) => api.verifyGate({ id }), TOUCHES);
  const canVerifyInstead = step.id === 'gate' && step.action === 'setup_pr';
  return (
    <li className={`step tone-${step.tone}`}>
      <div className="step-head">
        <h3>{step.title}</h3>
        <Tag tone={step.tone}>{step.state}</Tag>
      </div>
      <p>{step.advice}</p>
      <div className="row">
        {step.actionLabel !== null && (
          <Button
            kind={step.tone === 'quiet' ? 'plain' : 'main'}
            busy={act.isPending}
            onClick={() => act.mutate(step.action)}
          >
            {step.actionLabel}
          </Button>
        )}
        {canVerifyInstead && (
          <Button kind="quiet" busy={verify.isPending} onClick={() => verify.mutate(repo.id)}>
            The file is there already: verify
          </Button>
        )}
        {step.url !== null && (
          <Outward href={step.url}>
            {repo.provisioning.ci_gate.status === 'setup_pr_open'
              ? 'Open the setup pull request'
              : 'Open the gate run'}
          </Outward>
        )}
      </div>
      <Problem error={act.error ?? verify.error} />
    </li>
  );
}
