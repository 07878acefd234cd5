import { checkCall } from '../../support/usage.ts';
import { runAuto } from './family/auto.ts';
import { runFamily } from './family/main.ts';
import { runSignals } from './family/signals.ts';

checkCall({
  script: 'bench:queue',
  does: 'Plays workloads with the real decisions and bookkeeping on a forge of sets, in virtual time.',
  options: {
    '--scenario S,T': 'workloads of scenarios.json by name (all)',
    '--scenarios FILE': 'another file of workloads',
    '--fanout K,L': 'gate runs at once (1,4,8,16)',
    '--seeds N': 'seeds of each workload (20)',
    '--from S': 'first seed (1)',
    '--cold': 'without a history',
    '--without PIECE,PIECE': 'the policy without these pieces',
    '--ablation': 'the policy without each of its pieces in turn',
    '--policy JSON': 'settings of the policy',
    '--check': 'against the targets',
    '--json': 'one JSON object for each row',
    '--family N':
      'N random workloads beside other queues, with --seed, --fanout, --plans, --short, --json, and --tune or --report',
    '--auto N':
      'N random workloads with the fan-out that the queue chooses, with --seed, --budgets, --json, and --tune or --report',
    '--signals N':
      'N random workloads with what is known before a gate run, with --seed, --plans, and --tune or --report',
    '--seed S': 'first seed of random workloads (1)',
    '--plans P': 'plans of each random workload (2)',
    '--budgets 80,125': 'gate runs for each 100 landed',
    '--short': 'without a line for each workload',
    '--tune': 'seeds for tuning (as without it)',
    '--report': 'seeds for reports',
  },
});

if (process.argv.includes('--family')) runFamily(process.argv);
else if (process.argv.includes('--auto')) runAuto(process.argv);
else if (process.argv.includes('--signals')) runSignals(process.argv);
else await import('./named-main.ts');
