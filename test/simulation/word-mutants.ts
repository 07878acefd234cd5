import type { Mutant } from './mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of the words on a head that several pull requests have, and of words that are written late. */
export const WORD_MUTANTS: readonly Mutant[] = [
  {
    guard: 'words that come late over a bounce give way to it again',
    file: `${QUEUE}/recall.ts`,
    find: "if (ours.state === 'pending' || ours.description === describeStaleSuccess())",
    replace: 'if (ours.description === describeStaleSuccess())',
    families: ['long_late', 'storm'],
    dies: 'words come late over a bounce',
  },
  {
    guard: 'words of a success that was taken back give way to those of a bounce',
    file: `${QUEUE}/recall.ts`,
    find: "if (ours.state === 'pending' || ours.description === describeStaleSuccess())",
    replace: "if (ours.state === 'pending')",
    families: ['foreign_status'],
    dies: 'a success over the bounce of a draft',
  },
  {
    guard: 'words of a move give way to those of a bounce with the same head',
    file: `${QUEUE}/moved-heads.ts`,
    find: '  if (bounced !== undefined) sayError(pass, bounced, describeEarlierBounce(bounceOf(pass.record, bounced)));\n',
    replace: '',
    families: ['shared_heads', 'storm'],
    dies: 'another one moves to the head of a bounce',
  },
  {
    guard: 'words of another pull request with the same head hold while a wait of this one ends',
    file: `${QUEUE}/spoken-for.ts`,
    find: 'entry.head === head &&',
    replace: 'entry.head === head && entry.pr < 0 &&',
    families: ['shared_heads', 'storm'],
    dies: 'a pause beside the refusal of a twin',
  },
  {
    guard: 'one that waits for its batch is told so',
    file: `${QUEUE}/progress.ts`,
    find: 'said === undefined || said === describeStaged() ? describeInLine() : null',
    replace: 'said === describeStaged() ? describeInLine() : null',
    families: ['calm'],
    dies: 'one is staged and the next one waits',
  },
  {
    guard: 'one that is staged is told so',
    file: `${QUEUE}/progress.ts`,
    find: '  return describeStaged();\n',
    replace: '  return null;\n',
    families: ['calm'],
    dies: 'one is staged and the next one waits',
  },
];
