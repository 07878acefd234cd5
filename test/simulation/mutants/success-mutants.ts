import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of a success: its intent is stored before, one stands at a time, and it is nudged or taken back. */
export const SUCCESS_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a success that a reconcile had no time left to send is not waited for',
    file: 'engine-container/src/reconcile/reconcile.ts',
    find: "        record = forgetUnsent(record, action);\n        ended = 'unfinished';\n",
    replace: "        ended = 'unfinished';\n",
    families: ['workers'],
    dies: 'the time of a reconcile is over before a success is sent once more',
  },
  {
    guard: 'one landing after the other (D-02)',
    file: `${QUEUE}/landing/landing.ts`,
    find: '  batch.landing = landing;\n  postSuccess(pass, batch, landing);',
    replace: `  batch.landing = landing;
  postSuccess(pass, batch, landing);
  for (const other of batch.members.slice(batch.landed + 1, low)) pass.actions.push({ kind: 'post_status', pr: other.pr, sha: other.head, context: record.context, state: 'success', description: 'all at once', targetUrl: null, purpose: 'pending' });`,
    families: ['calm', 'faults', 'people'],
    dies: { family: 'calm', seed: 0 },
  },
  {
    guard: 'the intent before the success (A5)',
    file: 'engine-container/src/reconcile/reconcile.ts',
    find: '      await this.#keeper.save(record, snapshot.now);\n',
    replace: '',
    families: ['calm', 'crashes'],
    dies: { family: 'calm', seed: 4 },
  },
  {
    guard: 'the nudge (D-11)',
    file: 'core/domain/limits.ts',
    find: 'export const LANDING_NUDGE_AGES_MS: readonly number[] = [15_000, 60_000, 180_000, 360_000];',
    replace: 'export const LANDING_NUDGE_AGES_MS: readonly number[] = [];',
    families: ['people', 'faults'],
    dies: { family: 'people', seed: 8 },
  },
  {
    guard: 'two time-outs before a bounce (A21)',
    file: 'core/domain/limits.ts',
    find: 'export const MERGE_TIMEOUTS_MAX = 2;',
    replace: 'export const MERGE_TIMEOUTS_MAX = 1;',
    families: ['people', 'faults'],
    dies: { family: 'people', seed: 8 },
  },
  {
    guard: 'a posted success is taken back (A23, A24)',
    file: `${QUEUE}/batches/end-batch.ts`,
    find: '  if (landing === null || landing.takeBack !== null) return;\n',
    replace: '  batch.landing = null;\n  if (batch.landing === null) return;\n',
    families: ['people', 'settings', 'faults'],
    dies: { family: 'people', seed: 18 },
  },
  {
    guard: 'the last word after a success was taken back (E19)',
    file: `${QUEUE}/landing/landing.ts`,
    find: '  sayLastWord(pass, landing, takeBack.reason);\n',
    replace: '',
    families: ['workers', 'everything'],
    dies: 'a queue goes off, the schedules of its batch are cancelled, and it goes on',
  },
];
