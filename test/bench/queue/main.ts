import { runFamily } from './family/main.ts';

/** `npm run bench:queue`: random workloads with `--family`, the eleven named ones without. */
if (process.argv.includes('--family')) runFamily(process.argv);
else await import('./named-main.ts');
