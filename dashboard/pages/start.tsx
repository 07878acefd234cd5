import { useLocation, useSearch } from 'wouter';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { useConnections, useQueueStatus } from '../data/hooks.ts';
import { Button, ButtonLink, Foreign, Loading, PageHead, useTitle } from '../parts/frame/basics.tsx';
import { Problem } from '../parts/frame/errors.tsx';
import { hostOf } from '../parts/frame/repo-frame.tsx';
import { Mark } from '../parts/frame/signal.tsx';
import { ConnectForm } from '../parts/set-up/connect-form.tsx';
import { PickRepos } from '../parts/set-up/pick-repos.tsx';
import { SetupSteps, SetupSummary } from '../parts/set-up/setup-steps.tsx';
import { path } from '../routes.ts';
import { plural } from '../view/format.ts';
import { isSetUp, SETUP_FINISHED } from '../view/provisioning.ts';

type Connection = ResultOf<'listConnections'>[number];

/** Onboarding in three actions. Where one is stands in the address: a reload loses nothing. */
export function StartPage() {
  useTitle('Add repositories');
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const connections = useConnections();
  const chosen = search.get('connection');
  const added = (search.get('added') ?? '').split(',').filter((id) => id !== '');
  const status = useQueueStatus();
  const repos = status.data?.repos.filter((repo) => added.includes(repo.id)) ?? [];
  const isDone = repos.length > 0 && repos.every(isSetUp);
  const go = (next: Record<string, string>): void =>
    navigate(`${path.start()}?${new URLSearchParams(next).toString()}`);
  if (connections.data === undefined) {
    return connections.error === null ? (
      <Loading what="your connections" />
    ) : (
      <Problem error={connections.error} onRetry={() => void connections.refetch()} />
    );
  }
  const connection =
    connections.data.find((each) => each.id === chosen) ??
    (connections.data.length === 1 && chosen !== 'new' ? connections.data[0] : undefined);
  const step = added.length > 0 ? 3 : connection === undefined ? 1 : 2;
  return (
    <>
      <PageHead title="Add repositories" lead="Three actions: connect, pick, merge." />
      <ol className="journey">
        <JourneyStep number={1} title="Connect your forge" now={step === 1} done={connection !== undefined}>
          {step === 1 ? (
            <>
              <Known connections={connections.data} onPick={(id) => go({ connection: id })} />
              <ConnectForm onDone={(id) => go({ connection: id })} />
            </>
          ) : (
            connection !== undefined && (
              <p>
                {connection.bot_username} on {hostOf(connection.instance_url)}{' '}
                <Button kind="quiet" onClick={() => go({ connection: 'new' })}>
                  Use another
                </Button>
              </p>
            )
          )}
        </JourneyStep>
        <JourneyStep number={2} title="Pick repositories" now={step === 2} done={step === 3}>
          {step === 2 && connection !== undefined && (
            <PickRepos
              connection={connection}
              onDone={(ids) => go({ connection: connection.id, added: ids.join(',') })}
            />
          )}
          {step === 3 && <p>{plural(added.length, 'repository', 'repositories')} added.</p>}
        </JourneyStep>
        <JourneyStep
          number={3}
          title="Merge the setup pull request"
          now={step === 3 && !isDone}
          done={isDone}
        >
          {step === 3 && <Finish ids={added} />}
        </JourneyStep>
      </ol>
    </>
  );
}

function JourneyStep({
  number,
  title,
  now,
  done,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly now: boolean;
  readonly done: boolean;
  readonly children: React.ReactNode;
}) {
  return (
    <li
      className={`journey-step ${now ? 'journey-now' : ''} ${done ? 'journey-done' : ''}`}
      aria-current={now ? 'step' : undefined}
    >
      <h2>
        <span className="journey-number" aria-hidden="true">
          {done ? <Mark tone="clear" /> : number}
        </span>
        {title}
        {done && <span className="sr-only"> (done)</span>}
      </h2>
      <div className="journey-body">{children}</div>
    </li>
  );
}

function Known({
  connections,
  onPick,
}: {
  readonly connections: readonly Connection[];
  readonly onPick: (id: string) => void;
}) {
  if (connections.length === 0) return null;
  return (
    <div className="known">
      <p>Connected already:</p>
      {connections.map(({ id, bot_username: bot, instance_url: url }) => (
        <Button key={id} onClick={() => onPick(id)}>
          {bot} on {hostOf(url)}
        </Button>
      ))}
    </div>
  );
}

function Finish({ ids }: { readonly ids: readonly string[] }) {
  const status = useQueueStatus();
  if (status.data === undefined)
    return status.error === null ? <Loading what="the setup" /> : <Problem error={status.error} />;
  const repos = status.data.repos.filter((repo) => ids.includes(repo.id));
  return (
    <>
      <p>
        {repos.length > 0 && repos.every(isSetUp)
          ? SETUP_FINISHED
          : 'The pull request adds one workflow file. Put your own tests into it, merge it on the forge, then verify: a probe commit shows that the gate really runs.'}
      </p>
      {repos.map((repo) => (
        <section key={repo.id} className="finish" aria-label={repo.name}>
          <h3>
            <Foreign text={repo.name} />
          </h3>
          {isSetUp(repo) ? <SetupSummary repo={repo} /> : <SetupSteps repo={repo} />}
          <ButtonLink to={path.queue(repo.id)} kind={isSetUp(repo) ? 'main' : 'quiet'}>
            {isSetUp(repo) ? 'See its queue' : 'Later: see its queue'}
          </ButtonLink>
        </section>
      ))}
    </>
  );
}
