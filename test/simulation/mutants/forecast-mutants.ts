import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of decision 0245: what is known before a gate run sizes batches, and judges nothing. */
export const FORECAST_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a batch ends before one that is likely to fail',
    file: `${QUEUE}/policy/in-force.ts`,
    find: 'withSignals(1 - good, factorOf(forecast, entry.signals ?? []))',
    replace: 'withSignals(1 - good, factorOf(forecast, entry.signals ?? []) && 1)',
    families: ['one_author'],
    dies: 'one whose own CI failed is scheduled among others',
  },
  {
    guard: 'what is known before the gate run is no evidence against a pull request',
    file: `${QUEUE}/gate/search.ts`,
    find: 'const suspicion = suspicionOf(pass, batch, low, high);',
    replace: 'const suspicion = suspicionOf(pass, batch, low, high, forecastOfGood);',
    families: ['flaky'],
    dies: 'one whose own CI failed is good, and its first gate run fails by itself',
  },
  {
    guard: 'a bounce teaches what was known before it',
    file: `${QUEUE}/policy/signals.ts`,
    find: "  learn(pass, member.signals, 'bounced');\n",
    replace: '',
    families: ['one_author'],
    dies: 'one whose own CI failed fails at the gate',
  },
];
