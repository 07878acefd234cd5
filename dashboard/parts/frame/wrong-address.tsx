import { Link } from 'wouter';
import { ButtonLink, PageHead, useTitle } from './basics.tsx';
import { Problem, ProblemPage } from './errors.tsx';
import { faultOf } from './fault.ts';

interface Whole {
  /** Address of the same list without the part that was refused. */
  readonly to: string;
  readonly name: string;
}

const WORDS = {
  before: 'The address asks for what comes after a place that is no place of this list.',
  q: 'The search in the address is too long.',
};

interface Props {
  readonly error: unknown;
  readonly whole: Whole;
  readonly onRetry?: () => void;
}

/** A list that could not be read: no field of the page holds the part of the address that was refused, so a link leaves it out. */
export function ListProblem({ error, whole }: Props) {
  const fault = faultOf(error, WORDS);
  if (fault === null) return <Problem error={error} />;
  return (
    <div className="problem" role="alert">
      <p className="problem-title">No such list</p>
      <p>{fault.words}</p>
      <p className="problem-foot">
        <Link href={whole.to}>{whole.name}</Link>
      </p>
    </div>
  );
}

/** The same for a page that is nothing without its list. */
export function ListProblemPage({ error, whole, onRetry }: Props) {
  const fault = faultOf(error, WORDS);
  if (fault === null) return <ProblemPage error={error} {...(onRetry === undefined ? {} : { onRetry })} />;
  return <NoSuchList words={fault.words} whole={whole} />;
}

function NoSuchList({ words, whole }: { readonly words: string; readonly whole: Whole }) {
  useTitle('No such list');
  return (
    <div className="problem-page">
      <div>
        <PageHead title="No such list" lead={words} />
        <ButtonLink to={whole.to} kind="main">
          {whole.name}
        </ButtonLink>
      </div>
    </div>
  );
}
