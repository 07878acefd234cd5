import { ApiError } from '#core/contracts/routes/client.ts';
import { HEAD_ATTEMPTS_MAX, QUEUED_PER_ACCOUNT_MAX } from '#core/domain/api-limits.ts';
import { useDraft } from '../../data/use-draft.ts';
import { type Patch, usePatch } from '../../data/use-patch.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { Field } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { NameFields, toNames } from './name-fields.tsx';
import { SaveRow } from './save-row.tsx';

const LISTS = [
  [
    'schedule_people',
    'Accounts that may schedule',
    'Without an account or a team here all who may merge may schedule.',
  ],
  [
    'schedule_teams',
    'Teams that may schedule',
    'Teams of the organization that owns the repository. The bot has to be in each of them, with the scope read:organization.',
  ],
  [
    'bots',
    'Accounts of bots',
    'Programs that open or schedule pull requests. What failed is not tested again for them until its head changes.',
  ],
] as const;
const LIMITS = [
  [
    'author_queued_max',
    'Pull requests of one author at once',
    'The others wait, and enter in the order of the queue. 0 is no limit.',
    QUEUED_PER_ACCOUNT_MAX,
  ],
  ['bot_queued_max', 'Pull requests of one bot at once', '0 is no limit.', QUEUED_PER_ACCOUNT_MAX],
  [
    'head_attempts_max',
    'Schedules of one head that are tried',
    'After as many the head has to change. 0 is no limit.',
    HEAD_ATTEMPTS_MAX,
  ],
] as const;
const FLAGS = [
  ['schedule_own', 'An author may schedule a pull request of their own.'],
  ['bot_approval', 'What a bot schedules needs the official approval of a person on exactly that head.'],
] as const;

type Text = (typeof LISTS)[number][0] | (typeof LIMITS)[number][0];
type Flag = (typeof FLAGS)[number][0];
type Draft = Readonly<Record<Text, string>> & Readonly<Record<Flag, boolean>>;

const draftOf = (repo: StatusEntry): Draft => ({
  schedule_people: repo.schedule_people.join(', '),
  schedule_teams: repo.schedule_teams.join(', '),
  bots: repo.bots.join(', '),
  author_queued_max: String(repo.author_queued_max),
  bot_queued_max: String(repo.bot_queued_max),
  head_attempts_max: String(repo.head_attempts_max),
  schedule_own: repo.schedule_own,
  bot_approval: repo.bot_approval,
});

function patchOf(repo: StatusEntry, draft: Draft): Patch {
  const stored = draftOf(repo);
  const lists = LISTS.map(([name]) => [name, toNames(draft[name])] as const);
  const limits = LIMITS.map(([name]) => [name, Number(draft[name])] as const);
  const flags = FLAGS.map(([name]) => [name, draft[name]] as const);
  return Object.fromEntries(
    [...lists, ...limits, ...flags].filter(([name]) => draft[name] !== stored[name]),
  ) as Patch;
}

/** Who may schedule, and how much of the queue one account may take. */
export function ScheduleRules({ repo }: { readonly repo: StatusEntry }) {
  const { draft, edit, saved, undo } = useDraft(draftOf(repo));
  const patch = usePatch(repo);
  const changes = patchOf(repo, draft);
  const wrong = patch.error instanceof ApiError ? patch.error.field : null;
  return (
    <form
      className="panel"
      aria-labelledby="schedule-title"
      onSubmit={(event) => {
        event.preventDefault();
        patch.mutate(changes, { onSuccess: (next) => saved(draftOf({ ...repo, ...next })) });
      }}
    >
      <h2 id="schedule-title">Who may schedule, and how much</h2>
      <p className="hint">
        Accounts as the forge has them, separated by commas. A pull request that a rule refuses says so in its
        status.
      </p>
      <NameFields
        fields={LISTS}
        draft={draft}
        wrong={wrong}
        onChange={(name, text) => edit({ [name]: text })}
      />
      {LIMITS.map(([name, label, hint, max]) => (
        <Field
          key={name}
          label={label}
          hint={hint}
          error={wrong === name ? 'This value is not allowed.' : null}
        >
          {(ids) => (
            <input
              {...ids}
              type="number"
              required
              min={0}
              max={max}
              step={1}
              value={draft[name]}
              onChange={(event) => edit({ [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
      {FLAGS.map(([name, label]) => (
        <label className="check" key={name}>
          <input
            type="checkbox"
            checked={draft[name]}
            onChange={(event) => edit({ [name]: event.target.checked })}
          />
          <span>{label}</span>
        </label>
      ))}
      {wrong === null && <Problem error={patch.error} />}
      <div className="row">
        <SaveRow name="Save rules" dirty={Object.keys(changes).length > 0} patch={patch} undo={undo} />
      </div>
    </form>
  );
}
