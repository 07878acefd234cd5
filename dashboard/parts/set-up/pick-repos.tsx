import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ApiClient, ResultOf } from '#core/contracts/routes/client.ts';
import { ApiError } from '#core/contracts/routes/client.ts';
import { useChange, useQueueStatus, useService } from '../../data/hooks.ts';
import { path } from '../../routes.ts';
import {
  type Choice,
  DEFAULT_OPTIONS,
  defaultChoice,
  ENROLLMENT_FAULTS,
  type EnrollmentOptions,
  enrollmentOf,
  type Found,
} from '../../view/enrollment.ts';
import { sayError } from '../../view/error-words.ts';
import { plural } from '../../view/format.ts';
import { Button, Empty, Foreign, Loading } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { type Fault, FaultContext, faultOf } from '../frame/fault.ts';
import { ChoiceFields, OptionFields } from './enroll-fields.tsx';

type Connection = ResultOf<'listConnections'>[number];

interface Outcome {
  readonly slug: string;
  readonly id: string | null;
  readonly problem: string | null;
  readonly error: unknown;
}

interface Wanted {
  readonly found: Found;
  readonly choice: Choice;
}

/** Enrolls one, opts into protection, and asks for the setup pull request; only the first of these can fail the repo. */
async function addRepo(
  api: ApiClient,
  connection: Connection,
  { found, choice }: Wanted,
  options: EnrollmentOptions,
  protect: boolean,
  queueName: string | null,
): Promise<Outcome> {
  try {
    const { id } = await api.enrollRepo({
      body: enrollmentOf(connection.id, found, choice, options, queueName),
    });
    if (protect) await api.protectRepo({ id, body: { enabled: true } }).catch(() => undefined);
    // A gate that is there already is verified instead; what else goes wrong is shown as the state of the gate.
    await api.openSetupPull({ id }).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'ci_gate_exists')
        return api.verifyGate({ id }).catch(() => undefined);
      return undefined;
    });
    return { slug: found.full_name, id, problem: null, error: null };
  } catch (error) {
    const problem = faultOf(error, ENROLLMENT_FAULTS)?.words ?? sayProblem(error);
    return { slug: found.full_name, id: null, problem, error };
  }
}

/** The title alone names no cause: that the bot may not write here, or that the token has expired. */
function sayProblem(error: unknown): string {
  const { title, text, fix } = sayError(error);
  return [`${title}.`, text, fix].filter(Boolean).join(' ');
}

/** Repositories that the bot sees, each with what is settled for good when it is added. */
export function PickRepos({
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
  const queueName = status.data?.queue_name ?? null;
  const [filter, setFilter] = useState('');
  const [picked, setPicked] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [options, setOptions] = useState(DEFAULT_OPTIONS);
  const [protect, setProtect] = useState(true);
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const add = useChange(
    async (client, chosen: readonly Wanted[]) => {
      const all: Outcome[] = [];
      // One after the other: a plan's ceiling must refuse the last one, not a random one.
      for (const each of chosen)
        all.push(await addRepo(client, connection, each, options, protect, queueName));
      return all;
    },
    [['queue'], ['billing']],
  );
  if (found.data === undefined) {
    return found.error === null ? (
      <Loading what="what the bot can see" />
    ) : (
      <>
        <Problem error={found.error} onRetry={() => void found.refetch()} />
        <p className="hint">
          This connection is for <code>{connection.instance_url}</code>. Where the forge cannot be reached its
          address is stored unchecked: if it is wrong, or leads to one repository, remove it on the page{' '}
          <Link href={path.connections()}>Connections</Link>, and connect the right address.
        </p>
      </>
    );
  }
  if (found.data.repos.length === 0) {
    return (
      <Empty title="The bot sees no repository">
        <p>Make the bot a collaborator with administrator rights on the forge, then look again.</p>
        <Button onClick={() => void found.refetch()}>Look again</Button>
      </Empty>
    );
  }
  const { repos } = found.data;
  const branchesOf = (slug: string): readonly string[] =>
    (status.data?.repos ?? [])
      .filter((repo) => repo.instance_url === connection.instance_url)
      .filter((repo) => repo.name.toLowerCase() === slug.toLowerCase())
      .map((repo) => repo.base_branch);
  const choose = (slug: string, choice: Choice | null): void => {
    const next = new Map(picked);
    if (choice === null) next.delete(slug);
    else next.set(slug, choice);
    setPicked(next);
  };
  const wanted = repos.flatMap((repo) => {
    const choice = picked.get(repo.full_name);
    return choice === undefined ? [] : [{ found: repo, choice }];
  });
  const added = idsOf(outcomes);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(wanted, {
          onSuccess: (tried) => {
            const all = [...outcomes.filter(({ problem }) => problem === null), ...tried];
            setOutcomes(all);
            setPicked((now) => withoutAdded(now, tried));
            if (all.every(({ problem }) => problem === null)) onDone(idsOf(all));
          },
        });
      }}
    >
      {repos.length > 8 && (
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
        {repos
          .filter((repo) => repo.full_name.toLowerCase().includes(filter.toLowerCase()))
          .map((repo) => (
            <FaultContext
              key={repo.full_name}
              value={firstFault(outcomes.filter(({ slug }) => slug === repo.full_name))}
            >
              <PickRow
                repo={repo}
                managed={branchesOf(repo.full_name)}
                choice={picked.get(repo.full_name) ?? null}
                onChoose={(choice) => choose(repo.full_name, choice)}
              />
            </FaultContext>
          ))}
      </fieldset>
      <FaultContext value={firstFault(outcomes)}>
        <OptionFields options={options} queueName={queueName} onChange={setOptions} />
      </FaultContext>
      <label className="check">
        <input type="checkbox" checked={protect} onChange={(event) => setProtect(event.target.checked)} />
        <span>
          Require the queue's check on the base branch once the gate is verified, so that nothing merges past
          it. Other rules stay as they are.
        </span>
      </label>
      {outcomes.some(({ problem }) => problem !== null) && (
        <div className="problem" role="alert">
          <ul>
            {outcomes.map(({ slug, id, problem }) => (
              <li key={id ?? slug}>
                <Foreign text={slug} />: {problem ?? 'added'}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="row">
        <Button type="submit" kind="main" busy={add.isPending} disabled={picked.size === 0}>
          {picked.size === 0
            ? 'Pick at least one'
            : `Add ${plural(picked.size, 'repository', 'repositories')}`}
        </Button>
        {added.length > 0 && <Button onClick={() => onDone(added)}>Continue with those added</Button>}
      </div>
    </form>
  );
}

function idsOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.flatMap(({ id }) => (id === null ? [] : [id]));
}

/** The picks without those that were added: "Add" again is about the others alone. */
function withoutAdded(picked: ReadonlyMap<string, Choice>, tried: readonly Outcome[]) {
  const added = new Set(tried.flatMap(({ slug, id }) => (id === null ? [] : [slug])));
  return new Map([...picked].filter(([slug]) => !added.has(slug)));
}

/** The values below are the same for all, so the first that was refused speaks for them. */
function firstFault(outcomes: readonly Outcome[]): Fault | null {
  const faults = outcomes.map(({ error }) => faultOf(error, ENROLLMENT_FAULTS));
  return faults.find((fault) => fault !== null) ?? null;
}

function PickRow({
  repo,
  managed,
  choice,
  onChoose,
}: {
  readonly repo: Found;
  /** Branches of it that are in a queue: a further one may be added. */
  readonly managed: readonly string[];
  readonly choice: Choice | null;
  readonly onChoose: (choice: Choice | null) => void;
}) {
  const first = defaultChoice(repo);
  const fresh = managed.includes(first.baseBranch) ? { ...first, baseBranch: '' } : first;
  return (
    <div className="pick">
      <label className="pick-name">
        <input
          type="checkbox"
          checked={choice !== null}
          onChange={() => onChoose(choice === null ? fresh : null)}
        />
        <Foreign text={repo.full_name} />
        <Foreign text={repo.default_branch} className="branch" />
        {repo.private && <span className="hint">private</span>}
        {managed.length > 0 && (
          <span className="hint">
            in a queue already: {managed.join(', ')}; pick it to add another branch
          </span>
        )}
      </label>
      {choice !== null && <ChoiceFields repo={repo} choice={choice} onChange={onChoose} />}
    </div>
  );
}
