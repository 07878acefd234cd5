import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearch } from 'wouter';
import { ADMIN_QUERY_CHARS_MAX } from '#core/domain/api-limits.ts';
import { useService } from '../data/hooks.ts';
import { useSettledSearch } from '../data/settled-search.ts';
import { Ago, Empty, Foreign, Loading, PageHead, useTitle } from '../parts/frame/basics.tsx';
import { ProblemPage } from '../parts/frame/errors.tsx';
import { hostOf } from '../parts/frame/repo-frame.tsx';
import { ServiceState } from '../parts/frame/service-state.tsx';
import { Tag } from '../parts/frame/signal.tsx';
import { ListProblemPage } from '../parts/frame/wrong-address.tsx';
import { path } from '../routes.ts';
import { plural, showNumber } from '../view/format.ts';
import { nameGate } from '../view/provisioning.ts';

const PAGE_SIZE = 50;
const SEARCH_SETTLES_MS = 250;
const PARTS = [
  { key: 'repos', name: 'Repositories', to: path.adminRepos() },
  { key: 'connections', name: 'Connections', to: path.adminConnections() },
  { key: 'credentials', name: 'Credentials', to: path.adminCredentials() },
] as const;
type Part = (typeof PARTS)[number]['key'];
/** A lease says that an engine works on the repository. */
const ENGINE_WORDS = { idle: 'at rest', held: 'looks at the forge now', unknown: 'unknown' } as const;

/** The operator's view over all tenants; what it may show the service decides. */
export function AdminPage({ part }: { readonly part: Part }) {
  useTitle('Operator');
  return (
    <>
      <PageHead
        title="Operator"
        lead="All tenants of this service. Tokens are shown to no account, this one included."
      />
      <nav className="tabs" aria-label="Operator pages">
        <ul>
          {PARTS.map(({ key, name, to }) => (
            <li key={key}>
              <Link href={to} aria-current={key === part ? 'page' : undefined}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {part === 'repos' && <AllRepos />}
      {part === 'connections' && <AllConnections />}
      {part === 'credentials' && <Credentials />}
    </>
  );
}

function AllRepos() {
  const { api } = useService();
  const [, navigate] = useLocation();
  const search = new URLSearchParams(useSearch());
  const q = search.get('q') ?? '';
  const asked = search.get('offset') ?? '';
  const offset = /^\d{1,9}$/.test(asked) ? Number(asked) : 0;
  const [typed, setTyped] = useSettledSearch(q, SEARCH_SETTLES_MS, (wanted) =>
    navigate(path.adminRepos(wanted), { replace: true }),
  );
  const found = useQuery({
    queryKey: ['admin', 'repos', q, offset],
    queryFn: ({ signal }) => api.searchRepos({ query: { q, offset, limit: PAGE_SIZE }, signal }),
    placeholderData: keepPreviousData,
  });
  if (found.data === undefined) {
    return found.error === null ? (
      <Loading what="the repositories" />
    ) : (
      <ListProblemPage
        error={found.error}
        whole={{ to: path.adminRepos(), name: 'All repositories' }}
        onRetry={() => void found.refetch()}
      />
    );
  }
  const { total, order, repos } = found.data;
  return (
    <>
      <ServiceState />
      <input
        className="filter"
        type="search"
        aria-label="Search repositories by name"
        placeholder="Name of a repository"
        maxLength={ADMIN_QUERY_CHARS_MAX}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <p className="hint" role="status">
        {plural(total, 'repository', 'repositories')}
        {total > 1 &&
          (order === 'trouble'
            ? ', those in trouble first'
            : ', by name; a search that finds fewer shows those in trouble first')}
      </p>
      {repos.length === 0 ? (
        <Empty title={total === 0 ? 'No repository of that name' : 'The list ends before this page'} />
      ) : (
        <div className="table-scroll">
          <table className="stacked">
            <caption className="sr-only">Repositories of all tenants</caption>
            <thead>
              <tr>
                <th scope="col">Repository</th>
                <th scope="col">Forge</th>
                <th scope="col">Tenant</th>
                <th scope="col">Last look</th>
                <th scope="col">Engine</th>
                <th scope="col">Gate</th>
              </tr>
            </thead>
            <tbody>
              {repos.map((repo) => (
                <tr key={repo.id}>
                  <th scope="row">
                    <Foreign text={repo.repo} /> <span className="branch">{repo.base_branch}</span>
                  </th>
                  <td data-label="Forge">{hostOf(repo.instance_url)}</td>
                  <td data-label="Tenant">
                    <code className="id">{repo.tenant_id}</code>
                  </td>
                  <td data-label="Last look">
                    {repo.reconcile.ok === null ? (
                      <Tag tone="unknown">Never</Tag>
                    ) : (
                      <Tag tone={repo.reconcile.ok ? 'clear' : 'stop'}>
                        {repo.reconcile.error_code ?? 'ok'}
                      </Tag>
                    )}{' '}
                    {repo.reconcile.ran_at !== null && <Ago iso={repo.reconcile.ran_at} />}
                  </td>
                  <td data-label="Engine">{ENGINE_WORDS[repo.lease_state]}</td>
                  <td data-label="Gate">{nameGate(repo.provisioning.ci_gate)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <nav className="row" aria-label="Pages">
        {offset > 0 && (
          <Link href={path.adminRepos(q, Math.max(0, Math.min(offset, total) - PAGE_SIZE))}>Previous</Link>
        )}
        {offset + repos.length < total && <Link href={path.adminRepos(q, offset + PAGE_SIZE)}>Next</Link>}
      </nav>
    </>
  );
}

function AllConnections() {
  const { api } = useService();
  const found = useQuery({
    queryKey: ['admin', 'connections'],
    queryFn: ({ signal }) => api.listAllConnections({ signal }),
  });
  if (found.data === undefined) {
    return found.error === null ? (
      <Loading what="the connections" />
    ) : (
      <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
    );
  }
  const { connections, connections_truncated: truncated, connections_total: total } = found.data;
  return (
    <>
      <p className="hint" role="status">
        {plural(total, 'connection')}
        {truncated && '; there are more, the list stops here'}
      </p>
      <div className="table-scroll">
        <table className="stacked">
          <caption className="sr-only">Connections of all tenants, oldest first</caption>
          <thead>
            <tr>
              <th scope="col">Bot</th>
              <th scope="col">Forge</th>
              <th scope="col">Tenant</th>
              <th scope="col">Made</th>
            </tr>
          </thead>
          <tbody>
            {connections.map((each) => (
              <tr key={each.id}>
                <th scope="row">{each.bot_username}</th>
                <td data-label="Forge">{each.instance_url}</td>
                <td data-label="Tenant">
                  <code className="id">{each.tenant_id}</code>
                </td>
                <td data-label="Made">
                  <Ago iso={each.created_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Credentials() {
  const { api } = useService();
  const found = useQuery({
    queryKey: ['admin', 'stats'],
    queryFn: ({ signal }) => api.readStats({ signal }),
  });
  if (found.data === undefined) {
    return found.error === null ? (
      <Loading what="the figures" />
    ) : (
      <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
    );
  }
  const stats = found.data;
  const { v3, v2, v1, unrecognised } = stats.credential_formats;
  return (
    <>
      <dl className="facts panel">
        <dt>Tenants</dt>
        <dd>{showNumber(stats.tenants_total)}</dd>
        <dt>Repositories</dt>
        <dd>
          {showNumber(stats.repos_total)}
          {stats.repos_truncated && ' or more'}
        </dd>
        <dt>Connections</dt>
        <dd>
          {showNumber(stats.connections_total)}
          {stats.connections_truncated && ' or more'}
        </dd>
      </dl>
      <section className="panel">
        <h2>How tokens are sealed</h2>
        <dl className="facts">
          <dt>v3, current</dt>
          <dd>{showNumber(v3)}</dd>
          <dt>v2, older</dt>
          <dd>{showNumber(v2)}</dd>
          <dt>v1, oldest</dt>
          <dd>{showNumber(v1)}</dd>
          <dt>Unrecognised</dt>
          <dd>
            {unrecognised > 0 ? (
              <Tag tone="stop">{showNumber(unrecognised)}: they cannot be opened</Tag>
            ) : (
              showNumber(unrecognised)
            )}
          </dd>
        </dl>
      </section>
      <section className="panel">
        <h2>Key versions in use</h2>
        {Object.keys(stats.credential_keks).length === 0 ? (
          <p className="hint">No token is stored.</p>
        ) : (
          <dl className="facts">
            {Object.entries(stats.credential_keks).map(([version, count]) => (
              <div key={version} className="fact">
                <dt>Version {version}</dt>
                <dd>{showNumber(count)}</dd>
              </div>
            ))}
          </dl>
        )}
      </section>
    </>
  );
}
