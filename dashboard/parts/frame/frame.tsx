import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { endSession, hostedSignOutUrl } from '../../data/end-session.ts';
import { useHealth, useLiveState, useQueueStatus, useService, useSession } from '../../data/hooks.ts';
import { sayLive } from '../../data/live.ts';
import { setSession } from '../../data/session.ts';
import { path } from '../../routes.ts';
import { plural } from '../../view/format.ts';
import { sayTrouble } from '../../view/health.ts';
import { Button } from './basics.tsx';
import { focusHeading } from './focus-heading.ts';
import { TenantSwitch } from './tenant-switch.tsx';

const MAIN_LINKS = [
  { to: path.home(), name: 'Repositories', also: /^\/(repos\/|start)/ },
  { to: path.statistics(), name: 'Statistics', also: null },
  { to: path.connections(), name: 'Connections', also: null },
  { to: path.billing(), name: 'Billing', also: null },
  { to: path.account(), name: 'Account', also: null },
] as const;

/** Until the first page of this document has been shown. */
let isFirst = true;

/** The frame around every page: where one is, who one is, and how fresh what one sees is. */
export function Frame({ children }: { readonly children: React.ReactNode }) {
  const session = useSession();
  const [here] = useLocation();
  const main = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address is what moves the focus
  useEffect(() => {
    // The browser itself announces the first page. A sign-in makes this frame anew, under the same document.
    if (isFirst) {
      isFirst = false;
      return;
    }
    window.scrollTo(0, 0);
    // A new page is announced by its heading; without this the focus would stay on a link that is gone.
    return main.current === null ? undefined : focusHeading(main.current);
  }, [here]);
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <Link href={path.home()} className="brand" aria-label="Mergeyard, overview">
          <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
            <path d="M7 21V3M7 15c0-5 10-3 10-9" />
            <circle cx="7" cy="15" r="2.600" />
          </svg>
          <span>Mergeyard</span>
        </Link>
        {session !== null && (
          <nav aria-label="Main">
            <ul>
              {MAIN_LINKS.map(({ to, name, also }) => (
                <li key={to}>
                  <Link
                    href={to}
                    aria-current={here === to || also?.test(here) === true ? 'page' : undefined}
                  >
                    {name}
                  </Link>
                </li>
              ))}
              {session.isAdmin && (
                <li>
                  <Link
                    href={path.adminRepos()}
                    aria-current={here.startsWith('/admin') ? 'page' : undefined}
                  >
                    Operator
                  </Link>
                </li>
              )}
            </ul>
          </nav>
        )}
        <div className="top-end">
          {session !== null && <TenantSwitch />}
          {session !== null && <Freshness />}
          <ThemeSwitch />
          {session !== null && <SignOut email={session.email} />}
        </div>
      </header>
      {session !== null && <Overdue />}
      <main id="main" ref={main}>
        {children}
      </main>
      <Foot />
    </div>
  );
}

/** On every page: nothing lands in a repository that is held for its payment. */
function Overdue() {
  const held =
    useQueueStatus().data?.repos.filter(({ hold_reason: why }) => why === 'payment_required') ?? [];
  if (held.length === 0) return null;
  return (
    <p className="overdue" role="status">
      A payment is overdue: nothing lands in {plural(held.length, 'repository', 'repositories')} until it is
      settled. <Link href={path.billing()}>Settle it in billing</Link>
    </p>
  );
}

function Freshness() {
  const { name, meaning } = sayLive(useLiveState());
  const { kind } = useLiveState();
  return (
    <span className={`freshness freshness-${kind}`} role="status" title={meaning}>
      <span className="freshness-dot" aria-hidden="true" />
      {name}
      <span className="sr-only">. {meaning}</span>
    </span>
  );
}

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const THEME_KEY = 'mergeyard.theme';

function readTheme(): Theme {
  const stored = localStorage.getItem(THEME_KEY);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  return (
    <Button
      kind="quiet"
      aria-label={`Colours: ${theme}. Change to ${next}`}
      title={`Colours: ${theme}`}
      onClick={() => {
        localStorage.setItem(THEME_KEY, next);
        setTheme(next);
        applyTheme(next);
      }}
    >
      <svg className="theme-mark" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
        <circle cx="8" cy="8" r="5.500" />
        {theme !== 'light' && (
          <path
            d={
              theme === 'dark'
                ? 'M8 2.500a5.500 5.500 0 0 1 0 11a5.500 5.500 0 0 1 0 -11z'
                : 'M8 2.500a5.500 5.500 0 0 1 0 11z'
            }
          />
        )}
      </svg>
    </Button>
  );
}

function SignOut({ email }: { readonly email: string | null }) {
  const { api, config, queries } = useService();
  const [, navigate] = useLocation();
  return (
    <Button
      kind="quiet"
      title={email === null ? undefined : `Signed in as ${email}`}
      onClick={() => {
        // The session ends here whatever the service says.
        void api.logOut().catch(() => undefined);
        void endSession(config.sign_in, 'this').catch(() => undefined);
        setSession(null);
        queries.clear();
        const hosted = hostedSignOutUrl(config.sign_in);
        if (hosted !== null) location.assign(hosted);
        else navigate(path.signIn());
      }}
    >
      Sign out
    </Button>
  );
}

/** The service's own health, states only: a person sees whether it is them or us. */
function Foot() {
  const health = useHealth();
  const state = health?.status ?? 'unknown';
  const why = sayTrouble(health?.degraded_by);
  return (
    <footer className="foot">
      <span className={`foot-health foot-${state}`}>
        Service: {state === 'ok' ? 'in order' : state}
        {why !== '' && `, ${why}`}
      </span>
      <span>Nothing lands that was not proven.</span>
    </footer>
  );
}
