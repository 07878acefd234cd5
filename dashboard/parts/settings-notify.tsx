import { useState } from 'react';
import { ApiError } from '#core/contracts/client.ts';
import { EMAIL_CHARS_MAX } from '#core/domain/api-limits.ts';
import { useService } from '../data/hooks.ts';
import { type Patch, usePatch } from '../data/use-patch.ts';
import type { StatusEntry } from '../view/blocker.ts';
import { Button, Field } from './basics.tsx';
import { Problem } from './errors.tsx';
import { CHAT_A_HINT, CHAT_B_HINT, mailHint } from './notify-hints.ts';

/** Write-only: what is stored is never shown again, because the chat addresses are credentials. */
export function Notify({ repo }: { readonly repo: StatusEntry }) {
  const empty = { email: '', chatA: '', chatB: '' };
  const [draft, setDraft] = useState(empty);
  const [said, setSaid] = useState('');
  const { config } = useService();
  const patch = usePatch(repo);
  const save = (body: Patch, words: string): void =>
    patch.mutate(body, {
      onSuccess: () => {
        setDraft(empty);
        setSaid(words);
      },
    });
  const filled = draft.email !== '' || draft.chatA !== '' || draft.chatB !== '';
  return (
    <form
      className="panel"
      aria-labelledby="notify-title"
      onSubmit={(event) => {
        event.preventDefault();
        save(
          {
            notification: {
              ...(draft.email === '' ? {} : { email: draft.email }),
              ...(draft.chatA === '' ? {} : { chat_a_webhook_url: draft.chatA }),
              ...(draft.chatB === '' ? {} : { chat_b_webhook_url: draft.chatB }),
            },
          },
          'Saved. What was there before is replaced.',
        );
      }}
    >
      <h2 id="notify-title">Tell somebody when a pull request is bounced</h2>
      <p className="hint">What is stored is never shown again. Saving replaces all three destinations.</p>
      <div className="pair">
        <Field label="E-mail" {...mailHint(config.sends_mail)}>
          {(ids) => (
            <input
              {...ids}
              type="email"
              maxLength={EMAIL_CHARS_MAX}
              autoComplete="off"
              value={draft.email}
              onChange={(event) => setDraft({ ...draft, email: event.target.value })}
            />
          )}
        </Field>
        <Field label="Slack webhook" hint={CHAT_A_HINT}>
          {(ids) => (
            <input
              {...ids}
              type="url"
              autoComplete="off"
              value={draft.chatA}
              onChange={(event) => setDraft({ ...draft, chatA: event.target.value })}
            />
          )}
        </Field>
        <Field label="Discord webhook" hint={CHAT_B_HINT}>
          {(ids) => (
            <input
              {...ids}
              type="url"
              autoComplete="off"
              value={draft.chatB}
              onChange={(event) => setDraft({ ...draft, chatB: event.target.value })}
            />
          )}
        </Field>
      </div>
      {patch.error instanceof ApiError && patch.error.field !== null ? (
        <p className="field-error" role="alert">
          One of them is not an address of that service: exact host, https, nothing behind it.
        </p>
      ) : (
        <Problem error={patch.error} />
      )}
      <div className="row">
        <Button type="submit" kind="main" busy={patch.isPending} disabled={!filled}>
          Save destinations
        </Button>
        <Button
          kind="quiet"
          busy={patch.isPending}
          onClick={() => save({ notification: null }, 'Nobody is told any more.')}
        >
          Tell nobody
        </Button>
        <span role="status" className="hint">
          {said}
        </span>
      </div>
    </form>
  );
}
