import type { Mutant } from '../mutants.ts';

const HEARD = 'core/domain/wakes/heard-events.ts';
const LOOKS = 'engine-container/src/queue/gate/gate-looks.ts';

/** Guards of the polls where a forge sends events of its gate (decision 0246). */
export const EVENT_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a gate is polled rarely where events tell of its verdicts',
    file: LOOKS,
    find: '  if (!isVerdictTold(pass)) return s.now + often;',
    replace: '  if (!isVerdictTold(pass) || ageMs >= 0) return s.now + often;',
    families: ['people'],
    dies: 'an event tells of each verdict',
  },
  {
    guard: 'a verdict that a poll found makes the polls frequent again',
    file: LOOKS,
    find: '  if (s.now < at) return;\n',
    replace: '  if (s.now < at || at > 0) return;\n',
    families: ['people'],
    dies: 'a forge sends events no more',
  },
  {
    guard: 'the poll stays where events tell of verdicts',
    file: LOOKS,
    find: 'record.gateLooks?.at ?? s.now + HEARD_GATE_LOOK_MS',
    replace: 'record.gateLooks?.at ?? s.now + 30 * HEARD_GATE_LOOK_MS',
    families: ['people'],
    dies: 'a forge sends events no more',
  },
  {
    guard: 'a look at other news puts off no poll',
    file: LOOKS,
    find: 'record.gateLooks?.at ?? s.now + HEARD_GATE_LOOK_MS',
    replace: 's.now + HEARD_GATE_LOOK_MS',
    families: ['people'],
    dies: 'other news come while a gate is out',
  },
  {
    guard: 'events of the day before say nothing',
    file: HEARD,
    find: ' || now - heardAt >= HEARD_COUNTS_MS',
    replace: '',
    families: ['people'],
    dies: 'events of another kind and of the day before',
  },
  {
    guard: 'only the events that tell of this gate count',
    file: HEARD,
    find: "  return gate === 'statuses' ? 'status' : 'run';",
    replace: "  return gate === 'statuses' ? 'run' : 'status';",
    families: ['people'],
    dies: 'events of another kind and of the day before',
  },
  {
    guard: 'an arrival is written down once an hour',
    file: HEARD,
    find: '  return now - notedAt >= HEARD_NOTED_EVERY_MS;',
    replace: '  return now >= notedAt;',
    families: ['people'],
    dies: 'a forge sends events all the time',
  },
];
