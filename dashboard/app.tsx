import { Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { LiveContext, useLiveLink, useSession } from './data/hooks.ts';
import { laterPage } from './later-page.ts';
import { OverviewPage } from './pages/overview.tsx';
import { QueuePage } from './pages/queue.tsx';
import { CallbackPage, SignInPage } from './pages/sign-in.tsx';
import { Loading } from './parts/frame/basics.tsx';
import { Guard, NotFoundPage } from './parts/frame/errors.tsx';
import { Frame } from './parts/frame/frame.tsx';
import { path, ROUTES } from './routes.ts';

const StartPage = laterPage(async () => (await import('./pages/start.tsx')).StartPage);
const SetupPage = laterPage(async () => (await import('./pages/setup.tsx')).SetupPage);
const FiguresPage = laterPage(async () => (await import('./pages/figures.tsx')).FiguresPage);
const BatchesPage = laterPage(async () => (await import('./pages/batches.tsx')).BatchesPage);
const BatchPage = laterPage(async () => (await import('./pages/batches.tsx')).BatchPage);
const PullPage = laterPage(async () => (await import('./pages/pull.tsx')).PullPage);
const SettingsPage = laterPage(async () => (await import('./pages/settings.tsx')).SettingsPage);
const StatisticsPage = laterPage(async () => (await import('./pages/statistics.tsx')).StatisticsPage);
const ConnectionsPage = laterPage(async () => (await import('./pages/connections.tsx')).ConnectionsPage);
const BillingPage = laterPage(async () => (await import('./pages/billing.tsx')).BillingPage);
const AccountPage = laterPage(async () => (await import('./pages/account.tsx')).AccountPage);
const AdminPage = laterPage(async () => (await import('./pages/admin.tsx')).AdminPage);

export function App() {
  const session = useSession();
  const pages = (
    <Frame>
      <Switch>
        <Route path={ROUTES.signIn} component={SignInPage} />
        <Route path={ROUTES.callback} component={CallbackPage} />
        <Route>{session === null ? <SendToSignIn /> : <SignedIn />}</Route>
      </Switch>
    </Frame>
  );
  return session === null ? (
    pages
  ) : (
    <Live key={`${session.email ?? ''} ${session.tenants?.chosen ?? ''}`}>{pages}</Live>
  );
}

function Live({ children }: { readonly children: React.ReactNode }) {
  return <LiveContext value={useLiveLink()}>{children}</LiveContext>;
}

function SendToSignIn() {
  const [here] = useLocation();
  return <Redirect to={path.signIn(`${here}${location.search}`)} replace />;
}

function SignedIn() {
  const [here] = useLocation();
  return (
    <Guard key={here}>
      <Suspense fallback={<Loading what="the page" />}>
        <Switch>
          <Route path={ROUTES.home} component={OverviewPage} />
          <Route path={ROUTES.start} component={StartPage} />
          <Route path={ROUTES.queue}>{({ id }) => <QueuePage id={id} />}</Route>
          <Route path={ROUTES.batches}>{({ id }) => <BatchesPage id={id} />}</Route>
          <Route path={ROUTES.batch}>{({ id, batch }) => <BatchPage id={id} batchId={batch} />}</Route>
          <Route path={ROUTES.pull}>{({ id, number }) => <PullPage id={id} number={number} />}</Route>
          <Route path={ROUTES.settings}>{({ id }) => <SettingsPage id={id} />}</Route>
          <Route path={ROUTES.figures}>{({ id }) => <FiguresPage id={id} />}</Route>
          <Route path={ROUTES.setup}>{({ id }) => <SetupPage id={id} />}</Route>
          <Route path={ROUTES.statistics} component={StatisticsPage} />
          <Route path={ROUTES.connections} component={ConnectionsPage} />
          <Route path={ROUTES.billing} component={BillingPage} />
          <Route path={ROUTES.account} component={AccountPage} />
          <Route path={ROUTES.adminRepos}>
            <AdminPage part="repos" />
          </Route>
          <Route path={ROUTES.adminConnections}>
            <AdminPage part="connections" />
          </Route>
          <Route path={ROUTES.adminCredentials}>
            <AdminPage part="credentials" />
          </Route>
          <Route component={NotFoundPage} />
        </Switch>
      </Suspense>
    </Guard>
  );
}
