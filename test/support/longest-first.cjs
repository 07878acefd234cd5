const { default: Sequencer } = require('@jest/test-sequencer');
const { statSync } = require('node:fs');

/**
 * Seconds of the files that take longest, as measured on two cores with nothing beside. A fresh clone has no timings of its own, and by size
 * alone the longest of all, which is small, would begin when everything else is done.
 */
const SECONDS = [
  ['scenario/service/local-service.ci.test.ts', 71],
  ['simulation/lives.ci.test.ts', 36],
  ['simulation/scenes.ci.test.ts', 60],
  ['contract/forge-client.test.ts', 20],
  ['contract/forge-client.ci.test.ts', 20],
  ['scenario/onebox/onebox.ci.test.ts', 18],
  ['trees/tree-matrix.ci.test.ts', 15],
  ['scenario/service/local-realtime.ci.test.ts', 13],
  ['queue/decide.test.ts', 6],
  ['scenario/service/queue-record.abstract.ci.test.ts', 12],
  ['notices/failing-ways.ci.test.ts', 14],
  ['contract/dynamo-store.test.ts', 11],
  ['scenario/service/backports.ci.test.ts', 11],
  ['simulation/crash-sweep.ci.test.ts', 9],
  ['scenario/service/ci-gate.ci.test.ts', 9],
  ['dashboard/marked-fields.ci.test.tsx', 8],
  ['scenario/batches/auto-fanout.abstract.ci.test.ts', 8],
  ['scenario/line/crowd-beside.abstract.ci.test.ts', 7],
  ['contract/rewrap.ci.test.ts', 7],
  ['scenario/landing/promises.abstract.ci.test.ts', 7],
  ['scenario/line/fair-turns.abstract.ci.test.ts', 7],
  ['scenario/admission/outside-heads.git.ci.test.ts', 7],
  ['api/realtime.test.ts', 6],
  ['dashboard/pages.ci.test.tsx', 6],
  ['scenario/line/others-go-on.abstract.ci.test.ts', 6],
  ['scenario/gate/gate-deadline.abstract.ci.test.ts', 6],
  ['contract/stream-sources.ci.test.ts', 6],
  ['model/lease-and-landing.ci.test.ts', 6],
  ['record/bounds.ci.test.ts', 6],
  ['api/fanout-advice.ci.test.ts', 6],
  ['cdk/rights.ci.test.ts', 8],
  ['scenario/landing/stuck-success.abstract.ci.test.ts', 5],
  ['scenario/service/branch-rule.ci.test.ts', 5],
  ['contract/notices/places.test.ts', 5],
  ['scenario/service/wind-down.abstract.ci.test.ts', 5],
  ['scenario/admission/contract-states.abstract.test.ts', 5],
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
