import type { StatusEntry } from '../../view/blocker.ts';
import { Button, Field } from '../frame/basics.tsx';

export type FreezeWindow = StatusEntry['freeze_windows'][number];
type Day = FreezeWindow['days'][number];

const DAYS: readonly (readonly [Day, string])[] = [
  ['mon', 'Monday'],
  ['tue', 'Tuesday'],
  ['wed', 'Wednesday'],
  ['thu', 'Thursday'],
  ['fri', 'Friday'],
  ['sat', 'Saturday'],
  ['sun', 'Sunday'],
];

export const NEW_WINDOW: FreezeWindow = {
  reason: 'weekend',
  days: ['sat', 'sun'],
  from: '00:00',
  to: '24:00',
  first: null,
  last: null,
};

const WRONG: Readonly<Record<string, string>> = {
  reason: 'One line of at most 60 printable ASCII characters.',
  days: 'At least one day.',
  from: 'A time as 16:00.',
  to: 'A time as 08:00, or 24:00.',
  first: 'A day as 2026-12-24; both days or neither.',
  last: 'A day as 2027-01-03, not before the first, at most a year after it.',
};

/** One window: days of the week, times, and dates if wanted. */
export function FreezeWindowFields(props: {
  readonly name: string;
  readonly window: FreezeWindow;
  readonly reasonCharsMax: number;
  /** The field that the service refused; null: none of this window. */
  readonly wrong: string | null;
  readonly onChange: (next: FreezeWindow) => void;
  readonly onRemove: () => void;
}) {
  const { name, window, wrong, onChange } = props;
  const errorOf = (field: string): string | null => (wrong === field ? (WRONG[field] ?? null) : null);
  const text = (field: 'reason' | 'from' | 'to' | 'first' | 'last', label: string, hint: string) => {
    const isDate = field === 'first' || field === 'last';
    return (
      <Field label={label} hint={hint} error={errorOf(field)}>
        {(ids) => (
          <input
            {...ids}
            type={isDate ? 'date' : 'text'}
            maxLength={props.reasonCharsMax}
            required={!isDate}
            value={window[field] ?? ''}
            onChange={({ target: { value } }) =>
              onChange({ ...window, [field]: value === '' && isDate ? null : value })
            }
          />
        )}
      </Field>
    );
  };
  return (
    <fieldset className="radios">
      <legend>{name}</legend>
      {text(
        'reason',
        'Reason',
        `The status of each pull request that waits names this reason; ${props.reasonCharsMax} characters at most.`,
      )}
      {DAYS.map(([day, label]) => (
        <label key={day} className="check">
          <input
            type="checkbox"
            checked={window.days.includes(day)}
            onChange={({ target }) =>
              onChange({
                ...window,
                days: DAYS.map(([each]) => each).filter((each) =>
                  each === day ? target.checked : window.days.includes(each),
                ),
              })
            }
          />
          <span>{label}</span>
        </label>
      ))}
      {errorOf('days') !== null && <p className="problem">{errorOf('days')}</p>}
      <div className="pair">
        {text('from', 'From', 'HH:MM')}
        {text('to', 'To', 'HH:MM; where that is not later, of the next day.')}
      </div>
      <div className="pair">
        {text('first', 'First day (optional)', 'Empty: on all days of the week above.')}
        {text('last', 'Last day (optional)', 'The last day on which the window may begin.')}
      </div>
      <div className="row">
        <Button onClick={props.onRemove}>Remove {name.toLowerCase()}</Button>
      </div>
    </fieldset>
  );
}
