/** Every address of the page, in one place. The address is the state: a reload or a shared link shows the same. */
export const ROUTES = {
  home: '/',
  signIn: '/sign-in',
  callback: '/sign-in/callback',
  start: '/start',
  queue: '/repos/:id',
  batches: '/repos/:id/batches',
  batch: '/repos/:id/batches/:batch',
  pull: '/repos/:id/pulls/:number',
  settings: '/repos/:id/settings',
  setup: '/repos/:id/setup',
  figures: '/repos/:id/statistics',
  statistics: '/statistics',
  connections: '/connections',
  billing: '/billing',
  account: '/account',
  adminRepos: '/admin/repos',
  adminConnections: '/admin/connections',
  adminCredentials: '/admin/credentials',
} as const;

const segment = encodeURIComponent;

function withSearch(address: string, search: Readonly<Record<string, string | null | undefined>>): string {
  const given = Object.entries(search).filter((entry): entry is [string, string] => entry[1] != null);
  return given.length === 0 ? address : `${address}?${new URLSearchParams(given)}`;
}

export const path = {
  home: (): string => '/',
  signIn: (backTo?: string): string =>
    backTo === undefined || backTo === '/' ? '/sign-in' : `/sign-in?back=${segment(backTo)}`,
  start: (): string => '/start',
  queue: (
    id: string,
    events: { readonly q?: string | null; readonly event?: string | null; readonly before?: string } = {},
  ): string => withSearch(`/repos/${segment(id)}`, events),
  batches: (id: string, before?: string | null): string =>
    withSearch(`/repos/${segment(id)}/batches`, { before }),
  batch: (id: string, batchId: string, node?: string | null, before?: string | null): string =>
    withSearch(`/repos/${segment(id)}/batches/${segment(batchId)}`, { node, before }),
  pull: (id: string, number: number): string => `/repos/${segment(id)}/pulls/${number}`,
  figures: (id: string): string => `/repos/${segment(id)}/statistics`,
  settings: (id: string): string => `/repos/${segment(id)}/settings`,
  setup: (id: string): string => `/repos/${segment(id)}/setup`,
  statistics: (): string => '/statistics',
  connections: (): string => '/connections',
  billing: (): string => '/billing',
  account: (): string => '/account',
  adminRepos: (query = '', offset = 0): string => {
    const search = new URLSearchParams({
      ...(query === '' ? {} : { q: query }),
      ...(offset === 0 ? {} : { offset: String(offset) }),
    }).toString();
    return `/admin/repos${search === '' ? '' : `?${search}`}`;
  },
  adminConnections: (): string => '/admin/connections',
  adminCredentials: (): string => '/admin/credentials',
};

/** Only a path of this page: a link from elsewhere must not send people away after they signed in. */
export function safeBackTo(text: string | null): string {
  return text !== null && /^\/(?![/\\])/.test(text) ? text : '/';
}
