const { default: Sequencer } = require('@jest/test-sequencer');
const { statSync } = require('node:fs');

/**
 * Seconds of the files that take longest, as measured with two workers. A fresh clone has no timings of its own, and by size
 * alone the longest of all, which is small, would begin when everything else is done.
 */
const SECONDS = [
  ['simulation/simulation.test.ts', 78],
  ['scenario/local-service.test.ts', 47],
  ['simulation/crash-sweep.test.ts', 44],
  ['demo/demo.test.ts', 33],
  ['contract/forge-client.test.ts', 24],
  ['trees/tree-matrix.test.ts', 21],
  ['contract/dynamo-store.test.ts', 20],
  ['scenario/crash-sweep-stories.git.test.ts', 18],
  ['scenario/contract-states.git.test.ts', 15],
  ['scenario/call-budget.git.test.ts', 12],
  ['scenario/pipeline.git.test.ts', 9],
  ['scenario/local-realtime.test.ts', 9],
  ['model/lease-and-landing.test.ts', 9],
  ['scenario/stale-checks.git.test.ts', 8],
  ['queue/decide.test.ts', 8],
  ['contract/notifications.test.ts', 7],
  ['staging/real-git.test.ts', 7],
  ['simulation/mutants.test.ts', 7],
];

function secondsOf(path) {
  return SECONDS.find(([end]) => path.endsWith(`/${end}`))?.[1] ?? 1;
}

/** The longest first, so that no worker is left alone with one of them at the end; the rest by size. The same order every time. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const keyed = tests.map((test) => ({
      test,
      seconds: secondsOf(test.path),
      bytes: statSync(test.path).size,
    }));
    keyed.sort((a, b) => b.seconds - a.seconds || b.bytes - a.bytes || (a.test.path < b.test.path ? -1 : 1));
    return keyed.map(({ test }) => test);
  }
};
