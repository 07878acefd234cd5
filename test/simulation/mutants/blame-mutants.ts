import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards against blame that gate runs do not bear out, and of the memory of a bounce. */
export const BLAME_MUTANTS: readonly Mutant[] = [
  {
    guard: 'the probe of the base (A35)',
    file: `${QUEUE}/gate/search.ts`,
    find: "low > 0 ? 'proven' : judgeBase(pass, batch)",
    replace: "low >= 0 ? 'proven' : judgeBase(pass, batch)",
    families: ['base_pushed', 'calm', 'people'],
    dies: { family: 'base_pushed', seed: 10 },
  },
  {
    guard: 'the confirming run (D-08)',
    file: 'core/domain/limits.ts',
    find: 'export const CONFIRMED_FAILURES_MIN = 2;',
    replace: 'export const CONFIRMED_FAILURES_MIN = 1;',
    families: ['calm'],
    dies: { family: 'calm', seed: 0 },
  },
  {
    guard: 'evidence is of one tree (E17)',
    file: `${QUEUE}/gate/evidence.ts`,
    find: `evidenceByKey(record).get(\`\${tree} \${gate}\`) ?? []`,
    replace: 'record.evidence.filter((each) => each.gate === gate)',
    families: ['calm'],
    dies: { family: 'calm', seed: 0 },
  },
  {
    guard: 'a cancelled or broken run blames no pull request (A22)',
    file: `${QUEUE}/gate/gates.ts`,
    find: '  if (!isJudged(gate)) return retryNode(pass, batch, node);',
    replace: "  if (gate.verdict !== 'success') gate.verdict = node.verdict = 'failure';",
    families: ['faults', 'flaky'],
    dies: { family: 'faults', seed: 61 },
  },
  {
    guard: 'the memory of a bounce (A37)',
    file: `${QUEUE}/record/bounced.ts`,
    find: '    (known) => known.pr === pr && known.head === head && known.scheduleId === scheduleId,',
    replace:
      '    (known) => known.pr === pr && known.head === head && known.scheduleId === scheduleId && pr < 0,',
    families: ['calm', 'faults'],
    dies: { family: 'faults', seed: 3 },
  },
];
