import { countOption } from '../simulation/options.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { checkCall } from '../support/usage.ts';
import { draftCase } from './cases.ts';
import { compareMerges, Tally } from './compare.ts';

checkCall({
  script: 'merges',
  does: 'Merges generated histories with the planner of the engine and with the git of this machine.',
  options: {
    '--seed N': 'first seed (1)',
    '--cases N': 'merges (20000)',
  },
});

/**
 * Merges generated two-sided histories with the engine's planner and with the git of this machine:
 * `npm run merges -- --seed 1 --cases 20000`. Ends with 1 when one of them came out as another tree, or was planned where
 * git stops.
 */
const CASES_PER_SEED = 200;

const firstSeed = countOption('seed', 1);
const cases = countOption('cases', 20_000);
const tally = new Tally();
const rounds = Math.ceil(cases / CASES_PER_SEED);
for (let round = 0; round < rounds; round += 1) {
  const seed = firstSeed + round;
  const random = createSeededRandom(seed);
  tally.add(seed, compareMerges(Array.from({ length: CASES_PER_SEED }, () => draftCase(random))));
}
console.log(tally.counts);
console.log('refused alone, by reason:', tally.reasons);
for (const wrong of tally.wrong) console.log('wrong:', wrong);
console.log(
  `${rounds * CASES_PER_SEED} merges, seeds ${firstSeed} to ${firstSeed + rounds - 1}: ${tally.wrong.length} wrong`,
);
process.exitCode = tally.wrong.length > 0 ? 1 : 0;
