import { useId, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { path } from '../../routes.ts';
import { findPulls } from '../../view/pull.ts';
import { Foreign } from '../frame/basics.tsx';
import type { RepoView } from '../frame/repo-frame.tsx';

const SHOWN_MAX = 8;

/** Goes to the page of a number, or finds a title among those that the page holds. */
export function FindPull({ view }: { readonly view: RepoView }) {
  const { repo, activity, feed } = view;
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const id = useId();
  const found = findPulls(text, activity, feed);
  const [first] = found;
  return (
    <div>
      <form
        className="find"
        onSubmit={(event) => {
          event.preventDefault();
          if (first !== undefined) navigate(path.pull(repo.id, first.pr));
        }}
      >
        <label htmlFor={id}>Find a pull request</label>
        <input
          id={id}
          type="search"
          autoComplete="off"
          placeholder="Number, or words of its title"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      <div role="status">
        {text.trim() !== '' && first === undefined && (
          <p className="hint">
            No title in the queue or among the newest events has these words. A number leads to any pull
            request.
          </p>
        )}
        {first !== undefined && (
          <ul className="found">
            {found.slice(0, SHOWN_MAX).map(({ pr, title }) => (
              <li key={pr}>
                <Link href={path.pull(repo.id, pr)}>
                  #{pr} {title !== null && <Foreign text={title} className="clamp" />}
                </Link>
              </li>
            ))}
          </ul>
        )}
        {found.length > SHOWN_MAX && <p className="hint">{found.length - SHOWN_MAX} more.</p>}
      </div>
    </div>
  );
}
