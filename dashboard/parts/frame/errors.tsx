import { Component } from 'react';
import { Link, useLocation } from 'wouter';
import { path } from '../../routes.ts';
import { type ErrorWords, sayError } from '../../view/error-words.ts';
import { Button, ButtonLink, PageHead, useTitle } from './basics.tsx';
import { Signal } from './signal.tsx';

function Way({ words }: { readonly words: ErrorWords }) {
  const [here] = useLocation();
  if (words.goTo === 'billing') return <Link href={path.billing()}>Go to billing</Link>;
  if (words.goTo === 'connections') return <Link href={path.connections()}>Go to connections</Link>;
  if (words.goTo === 'sign-in') return <Link href={path.signIn(here)}>Sign in</Link>;
  return null;
}

/** A refusal where it happened: what it is, what to do, and the code to search for. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error === null || error === undefined) return null;
  const words = sayError(error);
  return (
    <div className="problem" role="alert">
      <p className="problem-title">{words.title}</p>
      <p>{[words.text, words.fix].filter(Boolean).join(' ')}</p>
      <p className="problem-foot">
        <code>{words.code}</code> <Way words={words} />
        {onRetry !== undefined && words.retryable && (
          <Button kind="quiet" onClick={onRetry}>
            Try again
          </Button>
        )}
      </p>
    </div>
  );
}

/** A page that could not be shown. */
export function ProblemPage({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const words = sayError(error);
  useTitle(words.title);
  return (
    <div className="problem-page">
      <Signal tone="stop" size="large" />
      <div>
        <PageHead title={words.title} lead={words.text === '' ? undefined : words.text} />
        {words.fix !== null && <p>{words.fix}</p>}
        <div className="row">
          {onRetry !== undefined && words.retryable && (
            <Button kind="main" onClick={onRetry}>
              Try again
            </Button>
          )}
          <Way words={words} />
          <ButtonLink to={path.home()} kind="quiet">
            Overview
          </ButtonLink>
        </div>
        <p className="problem-foot">
          <code>{words.code}</code>
        </p>
      </div>
    </div>
  );
}

export function NotFoundPage() {
  useTitle('No such page');
  return (
    <div className="problem-page">
      <Signal tone="unknown" size="large" />
      <div>
        <PageHead
          title="No such page"
          lead="No page has this address. It may be mistyped, or what it showed was removed."
        />
        <ButtonLink to={path.home()} kind="main">
          Overview
        </ButtonLink>
      </div>
    </div>
  );
}

/** Keeps a defect of one page from taking the frame with it. */
export class Guard extends Component<{ readonly children: React.ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): React.ReactNode {
    if (this.state.error === null) return this.props.children;
    return <ProblemPage error={this.state.error} onRetry={() => location.reload()} />;
  }
}
