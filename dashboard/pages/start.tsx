import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { ApiClient, ResultOf } from '#core/contracts/client.ts';
import { ApiError } from '#core/contracts/client.ts';
import { useChange, useConnections, useQueueStatus, useService } from '../data/hooks.ts';
import { Button, ButtonLink, Empty, Foreign, Loading, PageHead, useTitle } from '../parts/basics.tsx';
import { ConnectForm } from '../parts/connect-form.tsx';
import { Problem } from '../parts/errors.tsx';
import { hostOf } from '../parts/repo-frame.tsx';
import { SetupSteps, SetupSummary } from '../parts/setup-steps.tsx';
import { Mark } from '../parts/signal.tsx';
import { path } from '../routes.ts';
import { sayError } from '../view/error-words.ts';
import { plural } from '../view/format.ts';
import { isSetUp } from '../view/provisioning.ts';

type Connection = ResultOf<'listConnections'>[number];
type Found = ResultOf<'discoverRepos'>['repos'][number];

/** Onboarding in three actions. Where one is stands in the address: a reload loses nothing. */
export function StartPage() {
  useTitle('Add repositories');
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const connections = useConnections();
  const chosen = search.get('connection');
  const added = (search.get('added') ?? '').split(',').filter((id) => id !== '');
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
            <Pick
              connection={connection}
              onDone={(ids) => go({ connection: connection.id, added: ids.join(',') })}
            />
          )}
          {step === 3 && <p>{plural(added.length, 'repository', 'repositories')} added.</p>}
        </JourneyStep>
        <JourneyStep number={3} title="Merge the setup pull request" now={step === 3} done={false}>
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

interface Outcome {
  readonly slug: string;
  readonly id: string | null;
  readonly problem: string | null;
}

/** Enrolls one, opts into protection, and asks for the setup pull request; only the first of these can fail the repo. */
async function addRepo(
  api: ApiClient,
  connection: Connection,
  found: Found,
  protect: boolean,
): Promise<Outcome> {
  try {
    const { id } = await api.enrollRepo({
      body: {
        connection_id: connection.id,
        repo_slug: found.full_name,
        base_branch: found.default_branch,
        wakeup_mode: 'webhook',
      },
    });
    if (protect) await api.protectRepo({ id, body: { enabled: true } }).catch(() => undefined);
    // A gate that is there already is verified instead; what else goes wrong is shown as the state of the gate.
    await api.openSetupPull({ id }).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'ci_gate_exists')
        return api.verifyGate({ id }).catch(() => undefined);
      return undefined;
    });
    return { slug: found.full_name, id, problem: null };
  } catch (error) {
    const words = sayError(error);
    return { slug: found.full_name, id: null, problem: `${words.title}. ${words.fix ?? ''}` };
  }
}

function Pick({
  connection,
  onDone,
}: {
  readonly connection: Connection;
  readonly onDone: (ids: readonly string[]) => void;
}) {
  const { api } = useService();
  const status = useQueueStatus();
  const found = useQuery({
    queryKey: ['discover', connection.id],
    queryFn: ({ signal }) => api.discoverRepos({ id: connection.id, signal }),
    refetchOnWindowFocus: false,
    staleTime: 60_000,
  });
  const [filter, setFilter] = useState('');
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [protect, setProtect] = useState(true);
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const add = useChange(
    async (client, chosen: readonly Found[]) => {
      const all: Outcome[] = [];
      // One after the other: a plan's ceiling must refuse the last one, not a random one.
      for (const each of chosen) all.push(await addRepo(client, connection, each, protect));
      return all;
    },
    [['queue'], ['billing']],
  );
  if (found.data === undefined) {
    return found.error === null ? (
      <Loading what="what the bot can see" />
    ) : (
      <Problem error={found.error} onRetry={() => void found.refetch()} />
    );
  }
  const managed = new Set(
    status.data?.repos
      .filter((repo) => repo.forge_conn_id === connection.id)
      .map((repo) => repo.name.toLowerCase()),
  );
  const shown = found.data.repos.filter((repo) =>
    repo.full_name.toLowerCase().includes(filter.toLowerCase()),
  );
  if (found.data.repos.length === 0) {
    return (
      <Empty title="The bot sees no repository">
        <p>Make it a collaborator with admin rights on the forge, then look again.</p>
        <Button onClick={() => void found.refetch()}>Look again</Button>
      </Empty>
    );
  }
  const toggle = (slug: string): void => {
    const next = new Set(picked);
    if (!next.delete(slug)) next.add(slug);
    setPicked(next);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(
          found.data.repos.filter((repo) => picked.has(repo.full_name)),
          {
            onSuccess: (all) => {
              setOutcomes(all);
              const ids = all.flatMap(({ id }) => (id === null ? [] : [id]));
              if (ids.length > 0 && all.every(({ problem }) => problem === null)) onDone(ids);
            },
          },
        );
      }}
    >
      {found.data.repos.length > 8 && (
        <input
          className="filter"
          type="search"
          aria-label="Filter repositories"
          placeholder="Filter"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <fieldset className="picks">
        <legend className="sr-only">Repositories that the bot can see</legend>
        {shown.map((repo) => {
          const taken = managed.has(repo.full_name.toLowerCase());
          return (
            <label key={repo.full_name} className={`pick ${taken ? 'pick-taken' : ''}`}>
              <input
                type="checkbox"
                disabled={taken}
                checked={taken || picked.has(repo.full_name)}
                onChange={() => toggle(repo.full_name)}
              />
              <Foreign text={repo.full_name} />
              <span className="branch">{repo.default_branch}</span>
              {repo.private && <span className="hint">private</span>}
              {taken && <span className="hint">in the queue already</span>}
            </label>
          );
        })}
      </fieldset>
      <label className="check">
        <input type="checkbox" checked={protect} onChange={(event) => setProtect(event.target.checked)} />
        <span>
          Require the queue's check on the base branch once the gate is verified, so that nothing merges past
          it. Other rules stay as they are.
        </span>
      </label>
      {outcomes.some(({ problem }) => problem !== null) && (
        <ul className="problem" role="alert">
          {outcomes.map(({ slug, problem }) => (
            <li key={slug}>
              <Foreign text={slug} />: {problem ?? 'added'}
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <Button type="submit" kind="main" busy={add.isPending} disabled={picked.size === 0}>
          {picked.size === 0
            ? 'Pick at least one'
            : `Add ${plural(picked.size, 'repository', 'repositories')}`}
        </Button>
        {outcomes.some(({ id }) => id !== null) && (
          <Button onClick={() => onDone(outcomes.flatMap(({ id }) => (id === null ? [] : [id])))}>
            Go on with those added
          </Button>
        )}
      </div>
    </form>
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
        The pull request adds one workflow file. Put your own tests into it, merge it on the forge, then
        verify: a probe commit shows that the gate really runs.
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
