import type { Mutant } from './mutants.ts';

const ENGINE = 'engine-container/src';

/** Guards of decision 0003: what renews a schedule. */
export const RENEWAL_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a push renews a schedule only for those who may merge (D-03)',
    file: `${ENGINE}/read-renewals.ts`,
    find: '    return this.#deps.canWrite(by);\n',
    replace: '    return known(by.length > 0);\n',
    families: ['people'],
    dies: 'a push after a schedule',
  },
  {
    guard: 'a push in the name of the owner may be that of a deploy key',
    file: `${ENGINE}/read-renewals.ts`,
    find: '!this.#sharesName.known || this.#sharesName.value',
    replace: '!this.#sharesName.known',
    families: ['people'],
    dies: 'a deploy key pushes under a schedule',
  },
  {
    guard: 'no push renews the schedule of a head from outside (D-99)',
    file: `${ENGINE}/read-renewals.ts`,
    find: 'isOutside ? known(false) : await this.#mayMerge(push, rule)',
    replace: 'await this.#mayMerge(push, rule)',
    families: ['reviews'],
    dies: 'a fork goes back to an approved head',
  },
  {
    guard: 'an approval renews a schedule only if it is newer than the push',
    file: `${ENGINE}/queue/reviews.ts`,
    find: 'commit === head && at >= since',
    replace: 'commit === head',
    families: ['reviews'],
    dies: 'a fork goes back to an approved head',
  },
  {
    guard: 'words that have stopped being true are replaced',
    file: `${ENGINE}/queue/said.ts`,
    find: '    if (!isOutdated(pass, entry)) continue;\n',
    replace: '    if (entry.pr > 0) continue;\n',
    families: ['people'],
    dies: 'a fix after a bounce',
  },
  {
    guard: 'a refusal is said again over words about a move of another one with its head',
    file: `${ENGINE}/queue/moved-heads.ts`,
    find: 'if (other !== entry && other.head === entry.head) other.refusedFor = null;',
    replace: 'if (other === entry) other.refusedFor = null;',
    families: ['storm', 'shared_heads'],
    dies: { family: 'storm', seed: 520000102 },
  },
  {
    guard: 'a head that may have been pushed while it was closed is asked for anew',
    file: `${ENGINE}/queue/entries.ts`,
    find: "schedule.kind === 'bound' && schedule.isReopened === true",
    replace: "schedule.kind === 'bound' && schedule.isReopened !== undefined && false",
    families: ['people'],
    dies: 'a push while it is closed',
  },
  {
    guard: 'a push that the forge does not show is told with the way back',
    file: `${ENGINE}/queue/moved-heads.ts`,
    find: "  if (pass.s.now >= until) return 'untold';\n",
    replace: '',
    families: ['shared_heads'],
    dies: 'a push while it is closed',
  },
  {
    guard: 'a way out has a code of the closed list',
    file: `${ENGINE}/queue/entries.ts`,
    find: "leaveQueue(pass, entry, 'retargeted');",
    replace: "leaveQueue(pass, entry, 'sent_elsewhere');",
    families: ['people'],
    dies: 'each way out has a code',
  },
];
