import type { Mutant } from '../mutants.ts';

const REPAIR = 'core/domain/set-up/repair.ts';
const SERVICE = 'core/services/set-up/repair-setup.ts';
const UNDONE = 'a person undoes each repair';

/** Guards of decision 0189: repairs of a set-up, and looks at one at rest. */
export const REPAIR_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a part is put back once an hour at most',
    file: REPAIR,
    find: ' && tries.every(({ at }) => now - at >= REPAIR_EVERY_MS)',
    replace: '',
    families: ['drifts'],
    dies: UNDONE,
  },
  {
    guard: 'a part that was put back three times within a day is handed over',
    file: REPAIR,
    find: 'tries.length < REPAIRS_A_DAY_MAX && tries',
    replace: 'tries',
    families: ['drifts'],
    dies: UNDONE,
  },
  {
    guard: 'a try to put a part back is stored before the forge is touched',
    file: SERVICE,
    find: 'await begin(deps, { ...repo, repairs: noteBegun(repo, kinds, now) })',
    replace: 'repo',
    families: ['drifts'],
    dies: 'two functions put a hook back',
  },
  {
    guard: 'nothing is put back without the leave of the owner',
    file: REPAIR,
    find: '!repo.repairSetup || !repo.queueEnabled',
    replace: '!repo.queueEnabled',
    families: ['drifts'],
    dies: 'a rule is edited where repairs are not allowed',
  },
  {
    guard: 'the choice of a person about a rule is left to people',
    file: REPAIR,
    find: 'onlyPeople === true ? null : ',
    replace: '',
    families: ['drifts'],
    dies: 'a person allows direct pushes',
  },
  {
    guard: 'at rest the hook is compared with what was set up',
    file: 'core/services/wakes/idle-look.ts',
    find: "if (wakeupMode === 'webhook' && hookId !== null && hook",
    replace: 'if (false && hookId !== null && hook',
    families: ['drifts'],
    dies: 'a hook is deleted while nothing is scheduled',
  },
  {
    guard: 'the rule of a base at rest is read again once an hour',
    file: 'engine-container/src/reading/read-set-up.ts',
    find: 'return repo.protectionRequested && isSetUpLookDue',
    replace: 'return false && isSetUpLookDue',
    families: ['drifts'],
    dies: 'a rule is edited while nothing is scheduled',
  },
  {
    guard: 'an idle look that compares the set-up reads no statuses beside it',
    file: 'engine-container/src/idle/idle-look.ts',
    find: "return { kind: isAsBefore ? 'idle' : 'needed', memory: found };",
    replace: "if (!isAsBefore) return { kind: 'needed', memory: found };",
    families: ['drifts'],
    dies: 'a rule is edited while nothing is scheduled',
  },
];
