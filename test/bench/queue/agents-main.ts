import { hasOption, option } from '../../simulation/options.ts';
import { checkCall } from '../../support/usage.ts';
import { measureAgents } from './agents.ts';

checkCall({
  script: 'bench:agents',
  does: 'Measures what people wait beside an agent, and the runs that its loops take. Waits in gate durations of ten minutes.',
  options: {
    '--fanout K,L': 'gate runs at once (1,4,8,16)',
    '--seeds N': 'seeds (5)',
    '--from S': 'first seed (1)',
    '--hours H': 'hours with agents (4)',
    '--lead H': 'hours of people alone before the agents come (0)',
    '--people P': 'pull requests of people an hour (20)',
    '--agents A': 'pull requests of agents an hour (300)',
    '--loops T': 'times that an agent schedules a failed head again (6)',
    '--bot-max M': 'pull requests of one bot in the queue at once; 0 is no limit (0)',
    '--one-author': 'people and agents are one author',
  },
});

const WORSE_PCT_MAX = 10;

const seeds = Array.from(
  { length: Number(option('seeds') ?? 5) },
  (_, index) => index + Number(option('from') ?? 1),
);
const fanouts = option('fanout')?.split(',').map(Number) ?? [1, 4, 8, 16];
const show = (value: number | null) => (value === null ? '-' : value.toFixed(2)).padStart(12);
const columns = ['p50 without', 'p95 without', 'p50', 'p95', 'worse %', 'agents p50', 'agents p95'];
const counts = ['runs before', 'runs', 'again', 'runs again'];
console.log(`${'slots'.padStart(5)}${[...columns, ...counts].map((each) => each.padStart(12)).join('')}`);
for (const fanout of fanouts) {
  const row = measureAgents({
    fanout,
    seeds,
    hours: Number(option('hours') ?? 4),
    leadHours: Number(option('lead') ?? 0),
    peoplePerHour: Number(option('people') ?? 20),
    agentsPerHour: Number(option('agents') ?? 300),
    loops: Number(option('loops') ?? 6),
    botQueuedMax: Number(option('bot-max') ?? 0),
    isOneAuthor: hasOption('one-author'),
  });
  const worsePct = 100 * ((row.people_p95 ?? 0) / (row.people_p95_without ?? 1) - 1);
  const waits = [row.people_p50_without, row.people_p95_without, row.people_p50, row.people_p95, worsePct];
  const figures = [...waits, row.agents_p50, row.agents_p95].map(show).join('');
  const told = [row.runs_without, row.runs, row.scheduled_again, row.runs_again];
  const isMet = worsePct <= WORSE_PCT_MAX && row.runs_again === 0;
  const verdict = row.unproven + row.lost > 0 ? 'UNSAFE' : isMet ? 'met' : 'MISSED';
  console.log(
    `${String(fanout).padStart(5)}${figures}${told.map((each) => String(each).padStart(12)).join('')}   ${verdict}`,
  );
  if (verdict === 'UNSAFE') process.exitCode = 1;
}
console.log(
  `goals: p95 of people at most ${WORSE_PCT_MAX} % worse, no run on a head that failed and did not change`,
);
