import { useState } from 'react';
import { ApiError } from '#core/contracts/routes/client.ts';
import {
  BATCH_LINGER_SECONDS_MAX,
  BATCH_TARGET_MAX,
  LINGERS_MAX,
  STATUS_CONTEXT_CHARS_MAX,
} from '#core/domain/api-limits.ts';
import { useDraft } from '../data/use-draft.ts';
import { type Patch, usePatch } from '../data/use-patch.ts';
import { Button, Confirm, Field } from '../parts/frame/basics.tsx';
import { Problem } from '../parts/frame/errors.tsx';
import { hostOf, RepoFrame } from '../parts/frame/repo-frame.tsx';
import { NoticeTopics } from '../parts/settings/notice-topics.tsx';
import { NoticeWebhook } from '../parts/settings/notice-webhook.tsx';
import { SaveRow } from '../parts/settings/save-row.tsx';
import { type FanoutDraft, FanoutFields } from '../parts/settings/settings-fanout.tsx';
import { SettingsFile } from '../parts/settings/settings-file.tsx';
import { Freezes } from '../parts/settings/settings-freeze.tsx';
import { Notify } from '../parts/settings/settings-notify.tsx';
import { PauseQueue } from '../parts/settings/settings-pause.tsx';
import { Priorities } from '../parts/settings/settings-priority.tsx';
import { Protection, Remove, Settled } from '../parts/settings/settings-rest.tsx';
import { ScheduleRules } from '../parts/settings/settings-schedule.tsx';
import { describeTarget } from '../view/batch-target.ts';
import type { StatusEntry } from '../view/blocker.ts';
import { showDuration } from '../view/format.ts';
import { TIMER } from '../view/provisioning.ts';

/** Every setting that can be changed, with its limits; what was settled at enrollment is shown, not offered. */
export function SettingsPage({ id }: { readonly id: string }) {
  return (
    <RepoFrame id={id} tab="settings">
      {({ repo, activity }) => (
        <>
          <QueueSwitch repo={repo} />
          <PauseQueue repo={repo} />
          <Freezes repo={repo} activity={activity} key={`freezes ${repo.id}`} />
          <Tuning repo={repo} says={activity.queue?.fanout?.says} key={`tuning ${repo.id}`} />
          <SettingsFile repo={repo} />
          <Priorities repo={repo} key={`priorities ${repo.id}`} />
          <ScheduleRules repo={repo} key={`rules ${repo.id}`} />
          <Notify repo={repo} stored={activity.notification} />
          <NoticeWebhook repo={repo} stored={activity.notification} key={`webhook ${repo.id}`} />
          <NoticeTopics repo={repo} key={`topics ${repo.id}`} />
          <Protection repo={repo} />
          <Settled repo={repo} />
          <Remove repo={repo} />
        </>
      )}
    </RepoFrame>
  );
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
          ? 'Switching the queue off first stops the batches that are under way, and cancels the auto-merges of their pull requests. Nothing lands while the queue is off.'
          : 'Nothing lands. If the queue stopped because a landed tree was not the proven one, switching it on lifts that stop: look at that tree first.'}
      </p>
      {patch.failureCount > 0 && patch.isPending && (
        <p className="hint" role="status">
          The queue is in the middle of a step; waiting for it to finish…
        </p>
      )}
      <Problem error={patch.error} />
      <Confirm
        open={asking}
        title={`Switch the queue of ${repo.name} on ${hostOf(repo.instance_url)} off?`}
        onClose={close}
      >
        <p>
          Batches that are under way are stopped, and the auto-merges of their pull requests are cancelled.
          Once the queue is on again, people have to schedule those pull requests again.
        </p>
        <div className="row">
          <Button
            kind="danger"
            busy={patch.isPending}
            onClick={() => {
              patch.mutate({ queue_enabled: false });
              close();
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

interface Draft extends FanoutDraft {
  readonly linger: string;
  readonly target: string;
  readonly deadline: number | null;
  readonly reuse: boolean;
  readonly repair: boolean;
  readonly backports: boolean;
  readonly context: string;
  readonly wakeup: 'poll' | 'webhook';
}

const draftOf = (repo: StatusEntry): Draft => ({
  fanout: repo.bisect_fanout,
  budget: String(repo.auto_runs_per_100_landed),
  linger: String(repo.batch_linger_seconds),
  target: String(repo.batch_target),
  deadline: repo.gate_timeout_minutes,
  reuse: repo.reuse_ci,
  repair: repo.repair_setup,
  backports: repo.backports,
  context: repo.status_context,
  wakeup: repo.wakeup_mode,
});

function patchOf(repo: StatusEntry, draft: Draft): Patch {
  return {
    ...(draft.fanout === repo.bisect_fanout ? {} : { bisect_fanout: draft.fanout }),
    ...(Number(draft.budget) === repo.auto_runs_per_100_landed
      ? {}
      : { auto_runs_per_100_landed: Number(draft.budget) }),
    ...(Number(draft.linger) === repo.batch_linger_seconds
      ? {}
      : { batch_linger_seconds: Number(draft.linger) }),
    ...(Number(draft.target) === repo.batch_target ? {} : { batch_target: Number(draft.target) }),
    ...(draft.deadline === repo.gate_timeout_minutes ? {} : { gate_timeout_minutes: draft.deadline }),
    ...(draft.reuse === repo.reuse_ci ? {} : { reuse_ci: draft.reuse }),
    ...(draft.repair === repo.repair_setup ? {} : { repair_setup: draft.repair }),
    ...(draft.backports === repo.backports ? {} : { backports: draft.backports }),
    ...(draft.context.trim() === repo.status_context ? {} : { status_context: draft.context.trim() }),
    ...(draft.wakeup === repo.wakeup_mode ? {} : { wakeup_mode: draft.wakeup }),
  };
}

function Tuning({ repo, says }: { readonly repo: StatusEntry; readonly says: string | undefined }) {
  const { draft, edit: set, saved, undo } = useDraft(draftOf(repo));
  const patch = usePatch(repo);
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
        patch.mutate(changes, { onSuccess: (next) => saved(draftOf({ ...repo, ...next })) });
      }}
    >
      <h2 id="tuning-title">How it works through the queue</h2>
      <FanoutFields draft={draft} says={says} errorOf={errorOf} onChange={set} />
      <div className="pair">
        <Field
          label="Wait for more pull requests, in seconds"
          hint={
            Number(draft.linger) === 0
              ? '0: does not wait; what is ready is staged at once.'
              : `After a pull request is ready, waits ${showDuration(Number(draft.linger))} for others, and ${showDuration(LINGERS_MAX * Number(draft.linger))} at most while others keep coming.`
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
          label="Stop waiting at this many pull requests"
          hint={describeTarget(Number(draft.target))}
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
        label="Deadline of a gate run"
        hint="Past the deadline the batch is staged once more; then each pull request is judged alone. No pull request is blamed."
        error={errorOf('gate_timeout_minutes')}
      >
        {(ids) => (
          <select
            {...ids}
            value={draft.deadline ?? 'learned'}
            onChange={({ target: { value } }) =>
              set({ deadline: value === 'learned' ? null : Number(value) })
            }
          >
            <option value={0}>none: waits as long as it takes</option>
            <option value="learned">learned: three times what its gate runs take, 15 minutes at least</option>
            {[...new Set([15, 30, 60, 120, 240, draft.deadline ?? 15])]
              .filter((minutes) => minutes > 0)
              .sort((a, b) => a - b)
              .map((minutes) => (
                <option key={minutes} value={minutes}>
                  {minutes} minutes
                </option>
              ))}
          </select>
        )}
      </Field>
      <label className="check">
        <input
          type="checkbox"
          checked={draft.reuse}
          onChange={(event) => set({ reuse: event.target.checked })}
        />
        <span>
          No run twice: where the gate has passed on a branch of this repository whose files are exactly the
          staged ones, that pass counts. Only for a gate that runs the same checks on every branch.
        </span>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={draft.repair}
          onChange={(event) => set({ repair: event.target.checked })}
        />
        <span>
          Repairs: a webhook or a required status that was set up and is gone from the forge is put back by
          the service, once an hour and three times a day at most.
        </span>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={draft.backports}
          onChange={(event) => set({ backports: event.target.checked })}
        />
        <span>
          Backports: what lands with a label such as <code>backport v15</code> gets a pull request of its own
          into that branch. A person schedules it; the queue does not.
        </span>
      </label>
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
          <span>by webhook, at once. The five-minute timer stays as a safety net.</span>
        </label>
        <label className="check">
          <input
            type="radio"
            name="wakeup"
            checked={draft.wakeup === 'poll'}
            onChange={() => set({ wakeup: 'poll' })}
          />
          <span>by timer: {TIMER}.</span>
        </label>
      </fieldset>
      {patch.error !== null && !(patch.error instanceof ApiError && patch.error.field !== null) && (
        <Problem error={patch.error} />
      )}
      <div className="row">
        <SaveRow name="Save" dirty={dirty} patch={patch} undo={undo} />
      </div>
    </form>
  );
}
