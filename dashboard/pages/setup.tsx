import { useMutation } from '@tanstack/react-query';
import { useService } from '../data/hooks.ts';
import { Ago, Button, Copy } from '../parts/frame/basics.tsx';
import { Problem } from '../parts/frame/errors.tsx';
import { RepoFrame } from '../parts/frame/repo-frame.tsx';
import { Drifts } from '../parts/set-up/drifts.tsx';
import { GateChoice } from '../parts/set-up/gate-choice.tsx';
import { SetUpChecks } from '../parts/set-up/set-up-checks.tsx';
import { SetupSteps } from '../parts/set-up/setup-steps.tsx';
import type { RepoActivity, StatusEntry } from '../view/blocker.ts';
import { isSetUp, SETUP_FINISHED } from '../view/provisioning.ts';

/** The parts of set-up that a repository needs before it lands by itself. */
export function SetupPage({ id }: { readonly id: string }) {
  return (
    <RepoFrame id={id} tab="setup">
      {({ repo, activity }) => (
        <>
          <p className="lead" role="status">
            {sayState(repo, activity)}
          </p>
          <Drifts activity={activity} />
          <SetupSteps repo={repo} />
          <p className="hint">
            {repo.provisioning.last_provisioned_at === null ? (
              'Webhook and protection have not been tried yet.'
            ) : (
              <>
                Webhook and protection were last tried <Ago iso={repo.provisioning.last_provisioned_at} />.
              </>
            )}
          </p>
          <GateChoice repo={repo} />
          <SetUpChecks repo={repo} key={repo.id} />
          {repo.gate === 'workflow' && <Template repo={repo} />}
        </>
      )}
    </RepoFrame>
  );
}

function sayState(repo: StatusEntry, { drifts }: RepoActivity): string {
  if (!isSetUp(repo)) return 'Setup is not finished: each step says what is missing.';
  // The steps below are as the service made them; what was changed on the forge since does not change their state.
  if (drifts.length > 0)
    return 'Setup was finished, and something has changed on the forge since: it stands first.';
  return SETUP_FINISHED;
}

function Template({ repo }: { readonly repo: StatusEntry }) {
  const { api } = useService();
  const read = useMutation({ mutationFn: () => api.readGateTemplate({ id: repo.id }) });
  return (
    <section className="panel">
      <h2>Add the gate workflow by hand</h2>
      <p>
        The gate is one workflow file. It fails until you replace its command: an empty gate must not let
        anything through. Pull requests from forks run in it only after an approval of their exact head.
      </p>
      {read.data === undefined ? (
        <Button busy={read.isPending} onClick={() => read.mutate()}>
          Show the workflow file
        </Button>
      ) : (
        <>
          <div className="row">
            <Copy text={read.data} label="Copy the workflow file" />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <section tabIndex={0} aria-label="Gate workflow file">
            <pre className="log">{read.data}</pre>
          </section>
        </>
      )}
      <Problem error={read.error} onRetry={() => read.mutate()} />
    </section>
  );
}
