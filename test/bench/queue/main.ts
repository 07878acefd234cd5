import { runAuto } from './family/auto.ts';
import { runFamily } from './family/main.ts';
import { runSignals } from './family/signals.ts';

/** `npm run bench:queue`: random workloads with `--family`, with `--auto` for the fan-out that the queue chooses, with `--signals` for what is known before a gate run; else the eleven. */
if (process.argv.includes('--family')) runFamily(process.argv);
else if (process.argv.includes('--auto')) runAuto(process.argv);
else if (process.argv.includes('--signals')) runSignals(process.argv);
else await import('./named-main.ts');
