import { useId } from 'react';
import { ApiError } from '#core/contracts/routes/client.ts';
import { FREEZE_WINDOWS_MAX, PAUSE_REASON_CHARS_MAX } from '#core/domain/api-limits.ts';
import { useNow } from '../../data/hooks.ts';
import { useDraft } from '../../data/use-draft.ts';
import { type Patch, usePatch } from '../../data/use-patch.ts';
import type { RepoActivity, StatusEntry } from '../../view/blocker.ts';
import { sayFreeze } from '../../view/freeze.ts';
import { Button, Field } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { FreezeWindowFields, NEW_WINDOW } from './freeze-window.tsx';
import { toNames } from './name-fields.tsx';
import { SaveRow } from './save-row.tsx';

const zones = Intl.supportedValuesOf('timeZone');

type Draft = ReturnType<typeof draftOf>;

const draftOf = (repo: StatusEntry) => ({
  // As text: a draft is compared by its values.
  windows: JSON.stringify(repo.freeze_windows),
  zone: repo.freeze_time_zone,
  labels: repo.freeze_exempt_labels.join(', '),
});

const windowsOf = (draft: Draft): StatusEntry['freeze_windows'] => JSON.parse(draft.windows);

function patchOf(repo: StatusEntry, draft: Draft): Patch {
  const stored = draftOf(repo);
  return {
    ...(draft.windows === stored.windows ? {} : { freeze_windows: windowsOf(draft) }),
    ...(draft.zone === stored.zone ? {} : { freeze_time_zone: draft.zone.trim() }),
    ...(draft.labels === stored.labels ? {} : { freeze_exempt_labels: toNames(draft.labels) }),
  };
}

/** Path of the field that the service refused, such as `freeze_windows.1.to`; '': none. */
function wrongOf(error: unknown): string {
  return error instanceof ApiError ? (error.field ?? '') : '';
}

/** Times in which nothing lands that is not exempt. */
export function Freezes({ repo, activity }: { readonly repo: StatusEntry; readonly activity: RepoActivity }) {
  const now = useNow();
  const list = useId();
  const { draft, edit, saved, undo } = useDraft(draftOf(repo));
  const patch = usePatch(repo);
  const windows = windowsOf(draft);
  const keep = (next: typeof windows): void => edit({ windows: JSON.stringify(next) });
  const wrong = wrongOf(patch.error);
  const changes = patchOf(repo, draft);
  return (
    <form
      className="panel"
      aria-labelledby="freeze-title"
      onSubmit={(event) => {
        event.preventDefault();
        patch.mutate(changes, { onSuccess: (next) => saved(draftOf({ ...repo, ...next })) });
      }}
    >
      <h2 id="freeze-title">Freeze windows</h2>
      <p className="hint">
        In a window nothing is staged and nothing lands; batches that are under way are stopped. Each pull
        request keeps its schedule and its place. {sayFreeze(activity.freeze, now)}
      </p>
      {windows.map((window, index) => (
        <FreezeWindowFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a window is nothing but its place in the list.
          key={index}
          name={`Window ${index + 1}`}
          window={window}
          reasonCharsMax={PAUSE_REASON_CHARS_MAX}
          wrong={wrong.startsWith(`freeze_windows.${index}.`) ? (wrong.split('.')[2] ?? '') : null}
          onChange={(next) => keep(windows.map((each, at) => (at === index ? next : each)))}
          onRemove={() => keep(windows.filter((_, at) => at !== index))}
        />
      ))}
      {wrong === 'freeze_windows' && (
        <p className="problem" role="alert">
          These windows leave no time of the week in which anything can land. Switch the queue off instead.
        </p>
      )}
      <div className="pair">
        <Field
          label="Time zone"
          hint="A name such as Europe/Berlin. Summer time counts."
          error={wrong === 'freeze_time_zone' ? 'The time zone data base has no such name.' : null}
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              list={list}
              value={draft.zone}
              onChange={(event) => edit({ zone: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Labels that exempt"
          hint="Of the accounts whose labels count, below. Without such an account no label exempts."
          error={wrong.startsWith('freeze_exempt_labels') ? 'Five labels of printable ASCII at most.' : null}
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              value={draft.labels}
              onChange={(event) => edit({ labels: event.target.value })}
            />
          )}
        </Field>
      </div>
      <datalist id={list}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      {!wrong.startsWith('freeze_') && <Problem error={patch.error} />}
      <div className="row">
        <Button
          disabled={windows.length >= FREEZE_WINDOWS_MAX}
          onClick={() => keep([...windows, NEW_WINDOW])}
        >
          Add a window
        </Button>
        <SaveRow
          name="Save freeze windows"
          dirty={Object.keys(changes).length > 0}
          patch={patch}
          undo={undo}
        />
      </div>
    </form>
  );
}
