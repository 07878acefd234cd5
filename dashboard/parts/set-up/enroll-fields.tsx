import { BASE_BRANCH_CHARS_MAX, STATUS_CONTEXT_CHARS_MAX } from '#core/domain/api-limits.ts';
import { contextForBase } from '#core/domain/queue/queue-names.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import {
  type Choice,
  type EnrollmentOptions,
  type Found,
  STYLE_NAMES,
  stylesOf,
} from '../../view/enrollment.ts';
import { NOTIFICATION_FAULTS } from '../../view/notification.ts';
import { TIMER } from '../../view/provisioning.ts';
import { Field } from '../frame/basics.tsx';
import { useFault } from '../frame/fault.ts';
import { NotifyFields } from '../settings/notify-fields.tsx';

/** Branch and style of one repository, as the forge has them until a person chooses others. */
export function ChoiceFields({
  repo,
  choice,
  onChange,
}: {
  readonly repo: Found;
  readonly choice: Choice;
  readonly onChange: (choice: Choice) => void;
}) {
  return (
    <div className="pair pick-choice">
      <Field
        label="Base branch"
        names={['base_branch']}
        hint="Settled for good: pull requests into this branch go through the queue."
      >
        {(ids) => (
          <input
            {...ids}
            type="text"
            required
            maxLength={BASE_BRANCH_CHARS_MAX}
            spellCheck={false}
            autoCapitalize="none"
            value={choice.baseBranch}
            onChange={(event) => onChange({ ...choice, baseBranch: event.target.value })}
          />
        )}
      </Field>
      <Field label="Merge style" hint="Settled for good. The style that people schedule with still wins.">
        {(ids) => (
          <select
            {...ids}
            value={choice.mergeStyle}
            onChange={(event) => onChange({ ...choice, mergeStyle: event.target.value as MergeStyle })}
          >
            {stylesOf(repo).map((style) => (
              <option key={style} value={style}>
                {STYLE_NAMES[style]}
                {style === repo.default_merge_style ? ' (default on the forge)' : ''}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

/** The values that all of them get; most of it can be changed later. */
export function OptionFields({
  options,
  queueName,
  onChange,
}: {
  readonly options: EnrollmentOptions;
  /** Null: not known yet. */
  readonly queueName: string | null;
  readonly onChange: (options: EnrollmentOptions) => void;
}) {
  const set = (change: Partial<EnrollmentOptions>): void => onChange({ ...options, ...change });
  // Its fields are folded away until one of them was refused.
  const isWrong = useFault(['status_context', ...Object.keys(NOTIFICATION_FAULTS)]) !== null;
  const shown = options.context.trim() === '' ? queueName : options.context.trim();
  return (
    <details className="more" open={isWrong || undefined}>
      <summary>More settings for all of them</summary>
      <div className="more-body">
        <fieldset className="radios">
          <legend>Wakes up</legend>
          {(['webhook', 'poll'] as const).map((mode) => (
            <label key={mode} className="check">
              <input
                type="radio"
                name="wakeup"
                checked={options.wakeup === mode}
                onChange={() => set({ wakeup: mode })}
              />
              <span>
                {mode === 'webhook'
                  ? 'by webhook, at once. The five-minute timer stays as a safety net.'
                  : `by timer: ${TIMER}.`}
              </span>
            </label>
          ))}
        </fieldset>
        <label className="check">
          <input
            type="checkbox"
            checked={options.automerge}
            onChange={(event) => set({ automerge: event.target.checked })}
          />
          <span>
            Auto-merge: check during setup that the forge can merge by itself in that style. Settled for good.
          </span>
        </label>
        <Field
          label="Status context"
          names={['status_context']}
          hint="The name of the required check. Left empty, it is the queue's own. Letters, digits, dot, dash, underscore, slash and space."
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              maxLength={STATUS_CONTEXT_CHARS_MAX}
              pattern="[A-Za-z0-9._\/ \-]+"
              spellCheck={false}
              autoCapitalize="none"
              value={options.context}
              onChange={(event) => set({ context: event.target.value })}
            />
          )}
        </Field>
        <label className="check">
          <input
            type="checkbox"
            checked={options.perBranch}
            disabled={shown === null}
            onChange={(event) => set({ perBranch: event.target.checked })}
          />
          <span>
            Name the base branch in it, as in <code>{contextForBase(shown ?? 'name', 'main')}</code>. Needed
            where another branch asks for the same status: one commit may then head pull requests to both.
          </span>
        </label>
        <p className="more-title">Who is told of a bounce</p>
        <NotifyFields draft={options} onChange={set} />
      </div>
    </details>
  );
}
