import { sayForecast } from '#core/domain/queue/forecast.ts';
import {
  factorOf,
  learnOutcome,
  NO_FORECAST,
  tellForecast,
  withSignals,
} from '../../../../../engine-container/src/queue/policy/forecast.ts';
import { createSeededRandom } from '../../../../support/seeded-random.ts';

const BAD = 0.1;

/** A history in which the own CI fails this share of the bad and of the good ones; one in five is from a fork, which says nothing. */
function learned(count: number, ofBad: number, ofGood: number) {
  const random = createSeededRandom(7);
  let forecast = NO_FORECAST;
  for (let each = 0; each < count; each += 1) {
    const isBad = random.chance(BAD);
    const ci = random.chance(isBad ? ofBad : ofGood) ? ('ci_failed' as const) : ('ci_passed' as const);
    const fork = random.chance(0.2) ? (['from_fork'] as const) : [];
    forecast = learnOutcome(forecast, [ci, ...fork], isBad ? 'bounced' : 'landed');
  }
  return forecast;
}
const chance = (...[forecast, signals]: Parameters<typeof factorOf>): number =>
  withSignals(BAD, factorOf(forecast, signals));

test('nothing learned, and nothing known, is the usual chance', () => {
  expect(chance(NO_FORECAST, ['ci_failed', 'from_fork'])).toBeCloseTo(BAD, 9);
  expect(chance(learned(2, 1, 0), [])).toBeGreaterThan(0);
  expect(tellForecast(NO_FORECAST, BAD, ['ci_failed'])).toBeNull();
});

test('the chance is that of the history: Bayes', () => {
  const forecast = learned(4_000, 0.55, 0.05);
  const truth = (BAD * 0.55) / (BAD * 0.55 + (1 - BAD) * 0.05);
  expect(Math.abs(chance(forecast, ['ci_failed']) - truth)).toBeLessThan(0.15);
  const other = (BAD * 0.45) / (BAD * 0.45 + (1 - BAD) * 0.95);
  expect(Math.abs(chance(forecast, ['ci_passed']) - other)).toBeLessThan(0.02);
});

test('a signal that says nothing changes little, and is not told', () => {
  const forecast = learned(400, 0.05, 0.05);
  for (const signals of [['ci_failed'], ['ci_passed'], ['ci_passed', 'from_fork']] as const)
    expect(Math.abs(chance(forecast, signals) - BAD)).toBeLessThan(0.12);
  expect(tellForecast(forecast, BAD, ['ci_passed', 'from_fork'])).toBeNull();
});

test('a few outcomes say little, however clear they are', () => {
  let forecast = learnOutcome(NO_FORECAST, ['of_bot'], 'bounced');
  expect(chance(forecast, ['of_bot'])).toBeLessThan(2 * BAD);
  for (let each = 0; each < 40; each += 1) forecast = learnOutcome(forecast, [], 'landed');
  for (let each = 0; each < 40; each += 1) forecast = learnOutcome(forecast, ['of_bot'], 'bounced');
  expect(chance(forecast, ['of_bot'])).toBeGreaterThan(0.4);
});

test('whatever was learned, odds change by a factor of twenty at most, and counts fade', () => {
  let forecast = NO_FORECAST;
  for (let each = 0; each < 3_000; each += 1) {
    forecast = learnOutcome(forecast, ['ci_failed', 'bounced_before', 'of_bot', 'from_fork'], 'bounced');
    forecast = learnOutcome(forecast, [], 'landed');
  }
  expect(forecast.landed + forecast.bounced).toBeLessThan(402);
  expect(factorOf(forecast, ['ci_failed', 'bounced_before', 'of_bot', 'from_fork'])).toBeCloseTo(20, 6);
  expect(factorOf(forecast, [])).toBeCloseTo(1 / 20, 6);
  expect(JSON.stringify(forecast).length).toBeLessThan(400);
});

test('what moved it is told, the strongest first, and only what moved it that way', () => {
  const forecast = learned(1_000, 0.7, 0.05);
  const told = tellForecast(forecast, BAD, ['ci_failed', 'from_fork']);
  expect(told?.because[0]).toBe('ci_failed');
  expect(told?.usualPercent).toBe(10);
  expect(told?.percent).toBeGreaterThan(40);
  const words = sayForecast({ percent: 60, usualPercent: 10, because: ['ci_failed'] });
  expect(words).toBe(
    'It fails at the gate with an estimated chance of 60 % (usual here: 10 %), because its own CI failed on this head. The estimate sizes batches and judges nothing.',
  );
  expect(tellForecast(forecast, BAD, [])).toBeNull();
});
