import { ApiError } from '#core/contracts/routes/client.ts';
import { useDraft } from '../../data/use-draft.ts';
import { usePatch } from '../../data/use-patch.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { Problem } from '../frame/errors.tsx';
import { NameFields, toNames } from './name-fields.tsx';
import { SaveRow } from './save-row.tsx';

const FIELDS = [
  [
    'incident_labels',
    'Labels of an incident',
    'Staged at once, in a batch of its own. Batches whose gate run is less than half done are stopped for it; their pull requests keep their places.',
  ],
  [
    'high_labels',
    'Labels of high priority',
    'Before all others; each four hours of waiting lift a pull request by one priority.',
  ],
  ['low_labels', 'Labels of low priority', 'After all others.'],
  [
    'priority_people',
    'Accounts whose labels count',
    'A label that another account put on changes nothing. Without an account here no label counts.',
  ],
] as const;
type Name = (typeof FIELDS)[number][0];
type Draft = Readonly<Record<Name, string>>;

const draftOf = (repo: StatusEntry): Draft => ({
  incident_labels: repo.incident_labels.join(', '),
  high_labels: repo.high_labels.join(', '),
  low_labels: repo.low_labels.join(', '),
  priority_people: repo.priority_people.join(', '),
});

/** The order of the queue: by labels of named accounts. */
export function Priorities({ repo }: { readonly repo: StatusEntry }) {
  const { draft, edit, saved, undo } = useDraft(draftOf(repo));
  const patch = usePatch(repo);
  const changed = FIELDS.filter(([name]) => draft[name] !== draftOf(repo)[name]).map(([name]) => name);
  const wrong = patch.error instanceof ApiError ? patch.error.field : null;
  return (
    <form
      className="panel"
      aria-labelledby="priority-title"
      onSubmit={(event) => {
        event.preventDefault();
        patch.mutate(Object.fromEntries(changed.map((name) => [name, toNames(draft[name])])), {
          onSuccess: (next) => saved(draftOf({ ...repo, ...next })),
        });
      }}
    >
      <h2 id="priority-title">Priorities by labels</h2>
      <p className="hint">
        Names as the forge has them, separated by commas. Without labels the earlier schedule comes first.
      </p>
      <NameFields
        fields={FIELDS}
        draft={draft}
        wrong={wrong}
        onChange={(name, text) => edit({ [name]: text })}
      />
      {wrong === null && <Problem error={patch.error} />}
      <div className="row">
        <SaveRow name="Save priorities" dirty={changed.length > 0} patch={patch} undo={undo} />
      </div>
    </form>
  );
}
