import { runAuto } from './family/auto.ts';
import { runFamily } from './family/main.ts';

/** `npm run bench:queue`: random workloads with `--family`, and with `--auto` for the fan-out that the queue chooses; else the eleven. */
if (process.argv.includes('--family')) runFamily(process.argv);
else if (process.argv.includes('--auto')) runAuto(process.argv);
else await import('./named-main.ts');
