import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of decision 0205: the owner holds a queue up for a while. */
export const PAUSE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'nothing is staged in a pause or a drain',
    file: `${QUEUE}/line/ready.ts`,
    find: '.filter((entry) => !isKeptFromStaging(hold, entry))',
    replace: '.filter(() => hold === null || isKeptFromStaging !== undefined)',
    families: ['pauses'],
    dies: 'two wait for the end of a pause',
  },
  {
    guard: 'a pause takes back what is in flight',
    file: `${QUEUE}/line/holds.ts`,
    find: "hold?.kind === 'pause' &&",
    replace: "hold?.reason === 'pause' &&",
    families: ['pauses'],
    dies: 'the queue is paused while a success stands',
  },
  {
    guard: 'a drain lets what is in flight go on',
    file: `${QUEUE}/line/holds.ts`,
    find: "hold?.kind === 'pause' &&",
    replace: 'hold !== null &&',
    families: ['pauses'],
    dies: 'the queue is drained while a gate run is out',
  },
  {
    guard: 'a pause is told on each head that waits for nothing else',
    file: `${QUEUE}/line/pauses.ts`,
    find: '    if (said?.head === sha && said.description === description) continue;\n',
    replace: '    if (pr > 0 || said?.head === sha) continue;\n',
    families: ['pauses'],
    dies: 'two wait for the end of a pause',
  },
  {
    guard: 'the words of a pause are replaced when it is over',
    file: `${QUEUE}/words/replace-old-words.ts`,
    find: 'return !isKeptFromStaging(holdAt(record, s.repo, s.now), entry);',
    replace: 'return s.now < 0;',
    families: ['pauses'],
    dies: 'two wait for the end of a pause',
  },
  {
    guard: 'words that are true after the record was lost are not written again',
    file: `${QUEUE}/landing/recall.ts`,
    find: "if (state === 'pending' && isUnknown) entry.said =",
    replace: 'if (isUnknown && sha.length === 0) entry.said =',
    families: ['pauses'],
    dies: 'the record is lost under words that are true',
  },
  {
    guard: 'a pause that is set while the engine looks holds at once (A128)',
    file: 'engine-container/src/reading/looks.ts',
    find: 'repo: { ...snapshot.repo, ...holds, queueEnabled }',
    replace: 'repo: { ...snapshot.repo, queueEnabled }',
    families: ['pauses'],
    dies: 'the queue is paused while the engine looks',
  },
  {
    guard: 'a switch-off that waits for the engine stops the reconcile under way (D-24)',
    file: 'core/domain/repos/stored-holds.ts',
    find: ' && !isStopAsked(repo, now)',
    replace: ' && !isStopAsked(repo, Number.MAX_SAFE_INTEGER)',
    families: ['pauses'],
    dies: 'a switch-off asks the engine to stop while it looks',
  },
  {
    guard: 'nothing is decided under settings that are no longer stored (0304)',
    file: 'engine-container/src/reading/looks.ts',
    find: 'if (stored !== null && !isDeepStrictEqual(stored.settings, steadySettingsOf(repo))) return null;',
    replace: '',
    families: ['pauses'],
    dies: 'the gate is changed while the engine looks',
  },
  {
    guard: 'the page tells of a hold that came while the engine looked (A146)',
    file: 'engine-container/src/reconcile/reconcile.ts',
    find: 'this.#keeper.tellBy(snapshot.repo);',
    replace: '',
    families: ['pauses'],
    dies: 'the queue is drained while the engine looks',
  },
];
