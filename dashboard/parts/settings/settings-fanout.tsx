import { AUTO_RUNS_PER_100_LANDED_MAX, AUTO_RUNS_PER_100_LANDED_MIN } from '#core/domain/api-limits.ts';
import { BISECT_FANOUT_MAX, BISECT_FANOUT_MIN } from '#core/domain/limits.ts';
import { Field } from '../frame/basics.tsx';

export interface FanoutDraft {
  readonly fanout: number | 'auto';
  readonly budget: string;
}

/** Where the slider stands when the choice is taken back from the queue. */
const FIRST_NUMBER = 4;

/** A number of gate runs at once, or a budget within which the queue chooses one. */
export function FanoutFields({
  draft: { fanout, budget },
  says,
  errorOf,
  onChange,
}: {
  readonly draft: FanoutDraft;
  /** Which number the queue has chosen, and why; undefined: none that it told of. */
  readonly says: string | undefined;
  readonly errorOf: (field: string) => string | null;
  readonly onChange: (change: Partial<FanoutDraft>) => void;
}) {
  const isAuto = fanout === 'auto';
  return (
    <>
      <label className="check">
        <input
          type="checkbox"
          checked={isAuto}
          onChange={(event) => onChange({ fanout: event.target.checked ? 'auto' : FIRST_NUMBER })}
        />
        <span>
          The queue chooses how many gate runs go on at once: as many as shorten the wait within a budget.
        </span>
      </label>
      {isAuto ? (
        <Field
          label="Gate runs for each 100 landed pull requests"
          hint={
            says ??
            `${AUTO_RUNS_PER_100_LANDED_MIN} to ${AUTO_RUNS_PER_100_LANDED_MAX}. A queue that tests each pull request alone takes 100 and more.`
          }
          error={errorOf('auto_runs_per_100_landed')}
        >
          {(ids) => (
            <input
              {...ids}
              type="number"
              required
              min={AUTO_RUNS_PER_100_LANDED_MIN}
              max={AUTO_RUNS_PER_100_LANDED_MAX}
              step={1}
              value={budget}
              onChange={(event) => onChange({ budget: event.target.value })}
            />
          )}
        </Field>
      ) : (
        <Field
          label={`Gate runs at once: ${fanout}`}
          hint={`${BISECT_FANOUT_MIN} to ${BISECT_FANOUT_MAX}. 1 spends the fewest gate runs, 4 to 8 suits most, 16 finds a culprit fastest.`}
          error={errorOf('bisect_fanout')}
        >
          {(ids) => (
            <input
              {...ids}
              type="range"
              min={BISECT_FANOUT_MIN}
              max={BISECT_FANOUT_MAX}
              step={1}
              value={fanout}
              onChange={(event) => onChange({ fanout: Number(event.target.value) })}
            />
          )}
        </Field>
      )}
    </>
  );
}
