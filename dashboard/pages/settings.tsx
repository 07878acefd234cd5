import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError, type InputFor } from '#core/contracts/client.ts';
import {
  BATCH_LINGER_SECONDS_MAX,
  BATCH_TARGET_MAX,
  EMAIL_CHARS_MAX,
  STATUS_CONTEXT_CHARS_MAX,
} from '#core/domain/api-limits.ts';
import { BISECT_FANOUT_MAX, BISECT_FANOUT_MIN } from '#core/domain/limits.ts';
import { CHAT_DESTINATIONS } from '#core/domain/notification.ts';
import { useChange } from '../data/hooks.ts';
import { Button, Confirm, Field } from '../parts/basics.tsx';
import { Problem } from '../parts/errors.tsx';
import { RepoFrame } from '../parts/repo-frame.tsx';
import { path } from '../routes.ts';
import type { StatusEntry } from '../view/blocker.ts';
import { showDuration } from '../view/format.ts';

type Patch = InputFor<'updateRepo'>['body'];
const TOUCHES = [['queue']] as const;

/** Every setting that can be changed, with its limits; what was settled at enrollment is shown, not offered. */
export function SettingsPage({ id }: { readonly id: string }) {
  return (
    <RepoFrame id={id} tab="settings">
      {({ repo }) => (
        <>
          <QueueSwitch repo={repo} />
          <Tuning repo={repo} key={`tuning ${repo.id}`} />
          <Notify repo={repo} />
          <Protection repo={repo} />
          <Settled repo={repo} />
          <Remove repo={repo} />
        </>
      )}
    </RepoFrame>
  );
}

function usePatch(repo: StatusEntry) {
  return useChange((api, body: Patch) => api.updateRepo({ id: repo.id, body }), TOUCHES);
}

function QueueSwitch({ repo }: { readonly repo: StatusEntry }) {
  const patch = usePatch(repo);
  const [asking, setAsking] = useState(false);
  const close = (): void => setAsking(false);
  return (
    <section className="panel" aria-labelledby="switch-title">
      <div className="panel-head">
        <h2 id="switch-title">{repo.queue_enabled ? 'The queue is on' : 'The queue is off'}</h2>
        {repo.queue_enabled ? (
          <Button kind="danger" busy={patch.isPending} onClick={() => setAsking(true)}>
            Switch the queue off
          </Button>
        ) : (
          <Button kind="main" busy={patch.isPending} onClick={() => patch.mutate({ queue_enabled: true })}>
            Switch the queue on
          </Button>
        )}
      </div>
      <p className="hint">
        {repo.queue_enabled
          ? 'Switching it off first takes back what is posted and cancels auto-merges that are under way. Nothing lands while it is off.'
          : 'Nothing lands. Switching it on also lifts a stop after a landed tree that was not the proven one: look at that first.'}
      </p>
      <Problem error={patch.error} />
      <Confirm open={asking} title={`Switch the queue of ${repo.name} off?`} onClose={close}>
        <p>Auto-merges under way are cancelled, and people have to schedule them again when it is back on.</p>
        <div className="row">
          <Button
            kind="danger"
            busy={patch.isPending}
            onClick={() => {
              patch.mutate({ queue_enabled: false }, { onSettled: close });
            }}
          >
            Switch it off
          </Button>
          <Button onClick={close}>Keep it on</Button>
        </div>
      </Confirm>
    </section>
  );
}

interface Draft {
  readonly fanout: number;
  readonly linger: string;
  readonly target: string;
  readonly context: string;
  readonly wakeup: 'poll' | 'webhook';
}

const draftOf = (repo: StatusEntry): Draft => ({
  fanout: repo.bisect_fanout,
  linger: String(repo.batch_linger_seconds),
  target: String(repo.batch_target),
  context: repo.status_context,
  wakeup: repo.wakeup_mode,
});

function patchOf(repo: StatusEntry, draft: Draft): Patch {
  return {
    ...(draft.fanout === repo.bisect_fanout ? {} : { bisect_fanout: draft.fanout }),
    ...(Number(draft.linger) === repo.batch_linger_seconds
      ? {}
      : { batch_linger_seconds: Number(draft.linger) }),
    ...(Number(draft.target) === repo.batch_target ? {} : { batch_target: Number(draft.target) }),
    ...(draft.context.trim() === repo.status_context ? {} : { status_context: draft.context.trim() }),
    ...(draft.wakeup === repo.wakeup_mode ? {} : { wakeup_mode: draft.wakeup }),
  };
}

function Tuning({ repo }: { readonly repo: StatusEntry }) {
  const [draft, setDraft] = useState(() => draftOf(repo));
  const [saved, setSaved] = useState(false);
  const patch = usePatch(repo);
  const set = (change: Partial<Draft>): void => {
    setSaved(false);
    setDraft({ ...draft, ...change });
  };
  const changes = patchOf(repo, draft);
  const dirty = Object.keys(changes).length > 0;
  const errorOf = (field: string): string | null =>
    patch.error instanceof ApiError && patch.error.field === field ? 'This value is not allowed.' : null;
  return (
    <form
      className="panel"
      aria-labelledby="tuning-title"
      onSubmit={(event) => {
        event.preventDefault();
        patch.mutate(changes, {
          onSuccess: (next) => {
            setDraft(draftOf({ ...repo, ...next }));
            setSaved(true);
          },
        });
      }}
    >
      <h2 id="tuning-title">How it works through the line</h2>
      <Field
        label={`Runs at once: ${draft.fanout}`}
        hint={`${BISECT_FANOUT_MIN} to ${BISECT_FANOUT_MAX}. 1 spends the fewest runs, 4 to 8 suits most, 16 finds a culprit fastest.`}
        error={errorOf('bisect_fanout')}
      >
        {(ids) => (
          <input
            {...ids}
            type="range"
            min={BISECT_FANOUT_MIN}
            max={BISECT_FANOUT_MAX}
            step={1}
            value={draft.fanout}
            onChange={(event) => set({ fanout: Number(event.target.value) })}
          />
        )}
      </Field>
      <div className="pair">
        <Field
          label="Wait for company, in seconds"
          hint={
            Number(draft.linger) === 0
              ? 'Stages at once.'
              : `After a pull request is ready, waits up to ${showDuration(Number(draft.linger))} for others.`
          }
          error={errorOf('batch_linger_seconds')}
        >
          {(ids) => (
            <input
              {...ids}
              type="number"
              required
              min={0}
              max={BATCH_LINGER_SECONDS_MAX}
              step={1}
              value={draft.linger}
              onChange={(event) => set({ linger: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Stop waiting at"
          hint={
            Number(draft.target) === 0
              ? 'No target: waits the whole time.'
              : `Ends the wait once ${draft.target} are ready.`
          }
          error={errorOf('batch_target')}
        >
          {(ids) => (
            <input
              {...ids}
              type="number"
              required
              min={0}
              max={BATCH_TARGET_MAX}
              step={1}
              value={draft.target}
              onChange={(event) => set({ target: event.target.value })}
            />
          )}
        </Field>
      </div>
      <Field
        label="Status context"
        hint="Letters, digits, dot, dash, underscore, slash and space. On a protected branch the required check follows, so that exactly one remains."
        error={errorOf('status_context')}
      >
        {(ids) => (
          <input
            {...ids}
            type="text"
            required
            maxLength={STATUS_CONTEXT_CHARS_MAX}
            pattern="[A-Za-z0-9._\/ \-]+"
            value={draft.context}
            onChange={(event) => set({ context: event.target.value })}
          />
        )}
      </Field>
      <fieldset className="radios">
        <legend>Wakes up</legend>
        <label className="check">
          <input
            type="radio"
            name="wakeup"
            checked={draft.wakeup === 'webhook'}
            onChange={() => set({ wakeup: 'webhook' })}
          />
          <span>by webhook, at once. The five-minute schedule stays as a safety net.</span>
        </label>
        <label className="check">
          <input
            type="radio"
            name="wakeup"
            checked={draft.wakeup === 'poll'}
            onChange={() => set({ wakeup: 'poll' })}
          />
          <span>by schedule, every five minutes.</span>
        </label>
      </fieldset>
      {patch.error !== null && !(patch.error instanceof ApiError && patch.error.field !== null) && (
        <Problem error={patch.error} />
      )}
      <div className="row">
        <Button type="submit" kind="main" busy={patch.isPending} disabled={!dirty}>
          Save
        </Button>
        {dirty && (
          <Button kind="quiet" onClick={() => setDraft(draftOf(repo))}>
            Undo
          </Button>
        )}
        <span role="status" className="hint">
          {saved && !dirty ? 'Saved.' : ''}
        </span>
      </div>
    </form>
  );
}

const CHAT_A = `https://${CHAT_DESTINATIONS.chatA.hosts[0]}${CHAT_DESTINATIONS.chatA.pathPrefix}…`;
const CHAT_B = `https://${CHAT_DESTINATIONS.chatB.hosts[0]}${CHAT_DESTINATIONS.chatB.pathPrefix}…`;

/** Write-only: what is stored is never shown again, because the chat addresses are credentials. */
function Notify({ repo }: { readonly repo: StatusEntry }) {
  const empty = { email: '', chatA: '', chatB: '' };
  const [draft, setDraft] = useState(empty);
  const [said, setSaid] = useState('');
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
        <Field label="E-mail">
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
        <Field label="Slack webhook" hint={CHAT_A}>
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
        <Field label="Discord webhook" hint={CHAT_B}>
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

function Protection({ repo }: { readonly repo: StatusEntry }) {
  const protect = useChange(
    (api, enabled: boolean) => api.protectRepo({ id: repo.id, body: { enabled } }),
    TOUCHES,
  );
  const requested = repo.provisioning.protection.status !== 'not_requested';
  return (
    <section className="panel" aria-labelledby="protection-title">
      <div className="panel-head">
        <h2 id="protection-title">Branch protection</h2>
        <Button busy={protect.isPending} onClick={() => protect.mutate(!requested)}>
          {requested ? 'Stop managing it' : 'Manage it for me'}
        </Button>
      </div>
      <p className="hint">
        {requested
          ? 'Mergeyard keeps its check required on the base branch. If you stop this, the rule stays on the forge as it is.'
          : 'Mergeyard does not touch your branch rule. Make its check required yourself, or the queue will not stage.'}
      </p>
      <Problem error={protect.error} />
    </section>
  );
}

function Settled({ repo }: { readonly repo: StatusEntry }) {
  return (
    <section className="panel" aria-labelledby="settled-title">
      <h2 id="settled-title">Settled when it was added</h2>
      <dl className="facts">
        <dt>Base branch</dt>
        <dd>
          <span className="branch">{repo.base_branch}</span>
        </dd>
        <dt>Merge style</dt>
        <dd>{repo.merge_style}; the style that people schedule with wins</dd>
        <dt>Auto-merge</dt>
        <dd>{repo.automerge ? 'on' : 'off'}</dd>
        <dt>Bot</dt>
        <dd>{repo.connection === null ? 'its connection is gone' : repo.connection.bot_username}</dd>
        <dt>Id</dt>
        <dd>
          <code>{repo.id}</code>
        </dd>
      </dl>
      <p className="hint">To change these, remove the repository and add it again.</p>
    </section>
  );
}

function Remove({ repo }: { readonly repo: StatusEntry }) {
  const [asking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  const remove = useChange((api, id: string) => api.deleteRepo({ id }), [['queue'], ['billing']]);
  return (
    <section className="panel danger-zone" aria-labelledby="remove-title">
      <div className="panel-head">
        <h2 id="remove-title">Remove from the queue</h2>
        <Button kind="danger" onClick={() => setAsking(true)}>
          Remove
        </Button>
      </div>
      <p className="hint">
        Webhook and branch rule stay on the forge: a required check that nobody posts blocks merges until you
        remove it.
      </p>
      <Problem error={remove.error} />
      <Confirm open={asking} title={`Remove ${repo.name}?`} onClose={() => setAsking(false)}>
        <p>Its settings, line and secrets are deleted here. Nothing on the forge is changed.</p>
        <div className="row">
          <Button
            kind="danger"
            busy={remove.isPending}
            onClick={() =>
              remove.mutate(repo.id, {
                onSuccess: () => navigate(path.home()),
                onError: () => setAsking(false),
              })
            }
          >
            Remove it
          </Button>
          <Button onClick={() => setAsking(false)}>Keep it</Button>
        </div>
      </Confirm>
    </section>
  );
}
