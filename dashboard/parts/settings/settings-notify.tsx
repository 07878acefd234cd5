import { useState } from 'react';
import { type Patch, usePatch } from '../../data/use-patch.ts';
import type { RepoActivity, StatusEntry } from '../../view/blocker.ts';
import {
  EMPTY_DRAFT,
  isFilled,
  NOTIFICATION_FAULTS,
  sayDestinations,
  toNotification,
} from '../../view/notification.ts';
import { Button } from '../frame/basics.tsx';
import { FailedCall } from '../frame/failed-call.tsx';
import { MailboxState } from './mailbox-state.tsx';
import { NotifyFields } from './notify-fields.tsx';

/** Shows what is stored masked, because the chat addresses are credentials. */
export function Notify({
  repo,
  stored,
}: {
  readonly repo: StatusEntry;
  readonly stored: RepoActivity['notification'];
}) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [said, setSaid] = useState('');
  const patch = usePatch(repo);
  const save = (body: Patch, words: string): void => {
    setSaid('');
    patch.mutate(body, {
      onSuccess: () => {
        setDraft(EMPTY_DRAFT);
        setSaid(words);
      },
    });
  };
  return (
    <form
      className="panel"
      aria-labelledby="notify-title"
      onSubmit={(event) => {
        event.preventDefault();
        save({ notification: toNotification(draft) }, 'Saved. What was there before is replaced.');
      }}
    >
      <h2 id="notify-title">Places that notices go to</h2>
      <p className="notified">{sayDestinations(stored)}</p>
      <MailboxState id={repo.id} stored={stored} />
      <p className="hint">
        An address is shown masked once it is saved: it is a credential. Saving replaces all of these; the
        webhook below stays.
      </p>
      <FailedCall error={patch.error} faults={NOTIFICATION_FAULTS}>
        <NotifyFields draft={draft} onChange={(changes) => setDraft({ ...draft, ...changes })} />
      </FailedCall>
      <div className="row">
        <Button type="submit" kind="main" busy={patch.isPending} disabled={!isFilled(draft)}>
          Save places
        </Button>
        {stored !== null && (
          <Button
            kind="quiet"
            busy={patch.isPending}
            onClick={() => save({ notification: null }, 'Removed.')}
          >
            Remove these places
          </Button>
        )}
        <span role="status" className="hint">
          {said}
        </span>
      </div>
    </form>
  );
}
