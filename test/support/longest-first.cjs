const { default: Sequencer } = require('@jest/test-sequencer');
const { statSync } = require('node:fs');

/**
 * Seconds of the files that take longest, as measured on two cores with nothing beside. A fresh clone has no timings of its own, and by size
 * alone the longest of all, which is small, would begin when everything else is done.
 */
const SECONDS = [
  ['scenario/local-service.test.ts', 40],
  ['demo/demo.test.ts', 31],
  ['simulation/simulation.test.ts', 30],
  ['simulation/mutants.test.ts', 28],
  ['contract/forge-client.test.ts', 24],
  ['trees/tree-matrix.test.ts', 20],
  ['simulation/crash-sweep.test.ts', 18],
  ['scenario/local-realtime.test.ts', 10],
  ['queue/decide.test.ts', 12],
  ['scenario/queue-record.abstract.test.ts', 15],
  ['contract/dynamo-store.test.ts', 8],
  ['scenario/names-in-the-way.git.test.ts', 8],
  ['scenario/landing-styles.git.test.ts', 7],
  ['contract/notifications.test.ts', 7],
  ['scenario/promises.abstract.test.ts', 7],
  ['scenario/others-go-on.abstract.test.ts', 6],
  ['model/lease-and-landing.test.ts', 6],
  ['scenario/merges.git.test.ts', 6],
  ['contract/stream-sources.test.ts', 6],
  ['scenario/ci-gate.test.ts', 5],
  ['api/realtime.test.ts', 5],
  ['scenario/call-budget.git.test.ts', 5],
  ['scenario/provisioning.test.ts', 4],
  ['contract/rewrap.test.ts', 4],
  ['scenario/wind-down.abstract.test.ts', 4],
  ['api/conformance.test.ts', 4],
  ['staging/effort.test.ts', 4],
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
