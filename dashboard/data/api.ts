import { QueryCache, QueryClient } from '@tanstack/react-query';
import { DASHBOARD_CONFIG_PATH, type DashboardConfig } from '#core/contracts/internal/dashboard.ts';
import { type ApiClient, ApiError, createApiClient } from '#core/contracts/routes/client.ts';
import { endsSession } from '../view/error-words.ts';
import { readToken, type Session, session } from './session.ts';
import { expireSession } from './tabs.ts';

const RETRIES_MAX = 2;

/** Everything that is asked of the service goes through here; the page has no privileges of its own. */
export interface Service {
  readonly config: DashboardConfig;
  readonly api: ApiClient;
  readonly queries: QueryClient;
}

export async function loadConfig(): Promise<DashboardConfig> {
  const response = await fetch(DASHBOARD_CONFIG_PATH, { cache: 'no-store' });
  if (!response.ok)
    throw new ApiError('unexpected', 'The configuration of this page is missing.', response.status, true);
  return (await response.json()) as DashboardConfig;
}

export function createService(config: DashboardConfig): Service {
  const api = createApiClient({ baseUrl: '', readToken: () => readToken(config.sign_in) });
  const queries = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (endsSession(error)) expireSession();
      },
    }),
    defaultOptions: {
      queries: {
        retry: (failed, error) =>
          failed < RETRIES_MAX &&
          error instanceof ApiError &&
          error.retryable &&
          error.code !== 'rate_limited',
        retryDelay: (failed) => 400 * 3 ** failed,
        staleTime: 2_000,
        refetchOnWindowFocus: true,
        // A browser that knows of no network is asked all the same: a call that waits for one never fails, so the page would
        // show old rows as those of now.
        networkMode: 'always',
        refetchOnReconnect: true,
      },
      mutations: {
        // One that waits for a network would be carried out whenever that is back, long after the click.
        networkMode: 'always',
        onError: (error) => {
          if (endsSession(error)) expireSession();
        },
      },
    },
  });
  forgetOthers(queries);
  return { config, api, queries };
}

/** A tab outlives a session: who signs in after its end sees nothing of who was signed in before. */
function forgetOthers(queries: QueryClient): void {
  let last = session.read();
  let hasEnded = false;
  session.watch(() => {
    const next = session.read();
    hasEnded ||= next === null;
    if (next === null) return;
    if (last !== null && !isOfSame(last, next, hasEnded)) queries.clear();
    last = next;
    hasEnded = false;
  });
}

/** Without a name a session is of the same person only where it renews the one before. */
function isOfSame(last: Session, next: Session, hasEnded: boolean): boolean {
  const isOnePerson = last.email === next.email && (last.email !== null || !hasEnded);
  return isOnePerson && last.tenants?.chosen === next.tenants?.chosen;
}
