import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of all others against one for which something can never be done, and of that one against silence. */
export const LIVENESS_MUTANTS: readonly Mutant[] = [
  {
    guard: 'one that was deleted leaves the queue',
    file: `${QUEUE}/admission/entries.ts`,
    find: '  if (pass.s.gone?.has(entry.pr) === true) return outwaitDeletion(pass, entry);\n',
    replace: '',
    families: ['people'],
    dies: 'one is deleted',
  },
  {
    guard: 'one reading takes none out of the queue',
    file: `${QUEUE}/admission/entries.ts`,
    find: '  const until = entry.goneSince + DELETED_AFTER_MS;\n',
    replace: '  const until = entry.goneSince;\n',
    families: ['people'],
    dies: 'one is lost sight of',
  },
  {
    guard: 'one whose staging fails alone is set aside with words',
    file: `${QUEUE}/batches/staging-failure.ts`,
    find: '  if (isKnown || entry.stagingTries >= STAGING_TRIES_ALONE_MAX) deferWithBackoff(pass, member, batch);\n',
    replace: '  if (isKnown || entry.stagingTries >= 100) deferWithBackoff(pass, member, batch);\n',
    families: ['cursed'],
    dies: 'staging fails for six',
  },
  {
    guard: 'a success that cannot be taken back is told',
    file: `${QUEUE}/landing/standing.ts`,
    find: '  tell(pass, status);\n',
    replace: '',
    families: ['cursed'],
    dies: 'a success cannot be taken back',
  },
  {
    guard: 'nothing lands while a success may open a merge that nothing proves',
    file: `${QUEUE}/landing/standing.ts`,
    find: '      status.takesBack === true &&\n      status.context',
    replace: '      status.takesBack === false &&\n      status.context',
    families: ['cursed'],
    dies: 'a success cannot be taken back',
  },
  {
    guard: 'no other waits for a success that opens nothing',
    file: `${QUEUE}/landing/standing.ts`,
    find: '  if (status?.told !== true || !s.full || !s.pulls.known || mayOpen(pass, status)) return;\n',
    replace: '  if (status !== undefined || s.full) return;\n',
    families: ['cursed'],
    dies: 'a success cannot be taken back',
  },
  {
    guard: 'words that cannot be written do not hide a success that comes late',
    file: `${QUEUE}/landing/unheard.ts`,
    find: '(waiting.takesBack === true || waiting.failures === undefined);',
    replace: '(waiting.takesBack === true || waiting.sha === post.sha);',
    families: ['cursed'],
    dies: 'no status can be written, and a success comes very late',
  },
  {
    guard: 'one that waits for an answer of the forge is told, and tried again',
    file: `${QUEUE}/admission/admit-entries.ts`,
    find: '  if (entry.readyAt === null && entry.refusedFor === null) outwaitAnswer(pass, entry);\n',
    replace: '',
    families: ['cursed'],
    dies: 'the forge does not answer about one',
  },
  {
    guard: 'the page says of an answer that does not come what the head says',
    file: `${QUEUE}/told/view.ts`,
    find: "return unclear?.head === head ? 'unclear' : 'not_admitted';",
    replace: "return head === '' && unclear === undefined ? 'unclear' : 'not_admitted';",
    families: ['cursed'],
    dies: 'the forge does not answer, and the page tells of it',
  },
];
