import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of what the page and the head tell of one place in the queue (A146). */
export const PLACE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'one that is refused when it is staged is refused on the page as well',
    file: `${QUEUE}/told/view.ts`,
    find: "? 'refused' : 'waiting', reason);",
    replace: "? 'waiting' : 'waiting', reason);",
    families: ['people'],
    dies: 'one conflicts with the base',
  },
  {
    guard: 'one for which its author has no place left waits on the page as well',
    file: `${QUEUE}/told/view.ts`,
    find: "? 'refused' : 'waiting', reason);",
    replace: "? 'refused' : 'refused', reason);",
    families: ['rules'],
    dies: 'an author schedules one more than the settings allow',
  },
  {
    guard: 'one whose merge another check kept back names that on the page as well',
    file: `${QUEUE}/told/view.ts`,
    find: "? 'other_checks' : 'not_admitted';",
    replace: "? 'not_admitted' : 'not_admitted';",
    families: ['people'],
    dies: 'another check keeps a merge back',
  },
  {
    guard: 'words of one in line do not stay over those of a landing of its head',
    file: `${QUEUE}/words/departure.ts`,
    find: 'else if (saysOverLanding(record, entry))',
    replace: "else if (entry.head === '')",
    families: ['shared_heads'],
    dies: 'both twins are merged between two readings of one look',
  },
  {
    guard: 'one that is back with its conflict is told so at once',
    file: `${QUEUE}/admission/entries.ts`,
    find: " || isRefusalForNow(describeDefer(deferred.reason) ?? '')",
    replace: '',
    families: ['people'],
    dies: 'one that conflicts with the base was a draft for a while',
  },
  {
    guard: 'one that landed along with another of its head is not told that it has its place again',
    file: `${QUEUE}/words/replace-old-words.ts`,
    find: ' && !hasLandedHead(record, head);',
    replace: ';',
    families: ['storm'],
    dies: 'both with a head that was refused land, and are listed as open',
  },
];
