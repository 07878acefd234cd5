import { useChange, useService } from '../../data/hooks.ts';
import type { RepoActivity } from '../../view/blocker.ts';
import { sayMailbox } from '../../view/notification.ts';
import { Button } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';

/** Whether the reader of the address has said yes, and the button that asks once more. */
export function MailboxState({
  id,
  stored,
}: {
  readonly id: string;
  readonly stored: RepoActivity['notification'];
}) {
  const { config } = useService();
  const ask = useChange((api, _: undefined) => api.askConfirmation({ id }), [['queue']]);
  const state = stored?.email_state ?? null;
  if (state === null || stored?.email == null || !config.sends_mail) return null;
  return (
    <>
      <p className="hint" role="status">
        {ask.isSuccess && state === 'waiting' ? 'A confirmation mail is on its way.' : sayMailbox(state)}
      </p>
      {state === 'waiting' && (
        <Button kind="quiet" busy={ask.isPending} onClick={() => ask.mutate(undefined)}>
          Send the confirmation mail again
        </Button>
      )}
      <Problem error={ask.error} />
    </>
  );
}
