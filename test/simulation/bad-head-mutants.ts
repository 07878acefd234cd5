import type { Mutant } from './mutants.ts';

const SRC = 'engine-container/src';
const QUEUE = `${SRC}/queue`;

/** Guards of decision 0270: calls about one head fail, or hang, while the forge is otherwise well. */
export const BAD_HEAD_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a landing that cannot be read is over once its success cannot come any more (A24)',
    file: `${QUEUE}/landing/unreadable.ts`,
    find: 'const until = graceEndsAt(landing, takeBack.postedAt);',
    replace: 'const until = graceEndsAt({ ...landing, asked: 0 }, takeBack.postedAt);',
    families: ['storm'],
    dies: 'one whose success has no answer leaves, and cannot be read for a minute',
  },
  {
    guard: 'a landing whose success had no answer ends though it cannot be read',
    file: `${QUEUE}/landing/unreadable.ts`,
    find: '(postedAt !== null || isOfThisOne)',
    replace: 'postedAt !== null',
    families: ['storm'],
    dies: 'one whose success has no answer cannot be read any more',
  },
  {
    guard: 'the time of a success without an answer counts from its end (A24)',
    file: `${QUEUE}/fold.ts`,
    find: 'landing.askedAt = s.now;\n}',
    replace: 'landing.askedAt = landing.intentAt;\n}',
    families: ['storm'],
    dies: 'the engine stands still before a success that has no answer',
  },
  {
    guard: 'an engine that dies by a success may have sent it late (A24)',
    file: `${QUEUE}/landing/landing.ts`,
    find: 'landing.askedAt = pass.s.now + SUCCESS_SENT_WITHIN_MS;',
    replace: 'landing.askedAt = pass.s.now;',
    families: ['crashes'],
    dies: 'the engine stands still before a success, and dies by it',
  },
  {
    guard: 'a head that wears a success is not gone (A24)',
    file: `${SRC}/perform.ts`,
    find: 'if (isMissing && !(action.takesBack === true &&',
    replace: 'if (isMissing && !(action.takesBack === undefined &&',
    families: ['storm'],
    dies: 'the forge says that a head is gone on which a success stands',
  },
  {
    guard: 'a head that takes all the time of a reconcile is counted as failing',
    file: `${SRC}/reconcile.ts`,
    find: 'return isTakingBack(action) && pulls.known && base.known;',
    replace: 'return isTakingBack(action) && !pulls.known;',
    families: ['cursed'],
    dies: 'each call about some heads of a lost record hangs',
  },
  {
    guard: 'a gate run that cannot be read is waited for no longer than one that is late',
    file: `${QUEUE}/gate/gates.ts`,
    find: 'if (!reading.known) return outwaitUnreadGate(pass, batch, node);',
    replace: 'if (!reading.known) return;',
    families: ['cursed'],
    dies: 'one gate run cannot be read',
  },
  {
    guard: 'an author is told that the statuses of the head cannot be read',
    file: `${QUEUE}/admission/admit-entries.ts`,
    find: '      tellUnanswered(pass, entry);\n',
    replace: '',
    families: ['cursed'],
    dies: 'the statuses of one head cannot be read by a new record',
  },
  {
    guard: 'a head that cannot be read keeps no other from being read (A24)',
    file: `${QUEUE}/landing/unheard.ts`,
    find: 'isMissed || post.lookAt > s.now ? post',
    replace: 'post.lookAt > s.now ? post',
    families: ['storm'],
    dies: 'one of two watched heads cannot be read',
  },
  {
    guard: 'a head that cannot be read is not gone (A24)',
    file: `${SRC}/perform.ts`,
    find: "    return error.kind !== 'missing';\n",
    replace: '    return false;\n',
    families: ['storm'],
    dies: 'the forge says that a head is gone, and hangs on what stands there',
  },
  {
    guard: 'what takes a success back waits behind no staging that fails (A24)',
    file: `${SRC}/reconcile.ts`,
    find: 'if (isOver && !isTakingBack(action)) continue;',
    replace: 'if (isOver) continue;',
    families: ['cursed'],
    dies: 'nothing can be staged while a success is to be taken back',
  },
  {
    guard: 'no words are written over what may be the memory of a bounce (D-05)',
    file: `${QUEUE}/admission/unclear.ts`,
    find: 'if (!isUnread)',
    replace: 'if (pass.record.entries.length > 0)',
    families: ['cursed'],
    dies: 'the statuses of a bounced head cannot be read by a new record',
  },
];
