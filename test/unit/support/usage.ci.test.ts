import { spawnSync } from 'node:child_process';

/** Each of them once measured nothing, and ended as if it had found nothing. */
test.each([
  ['fuzz', 'test/conformance/fuzz.ts', ['--requests', 'many'], '--requests is a number, not many.'],
  ['conformance', 'test/conformance/main.ts', ['--request', '5'], 'There is no option --request.'],
  ['sim:acts', 'test/simulation/acts/main.ts', ['--story', 'nowhere'], 'There is no story nowhere; '],
  ['sim:crash', 'test/simulation/crash-main.ts', ['--story', '0'], 'There are stories 1 to '],
  [
    'sim:mutants',
    'test/simulation/mutants-main.ts',
    ['--only', 'no such'],
    'No guard of a mutant has the text',
  ],
  ['hostile', 'test/hostile/main.ts', ['--only', 'no such'], 'No attack has the text "no such".'],
  ['bench:queue', 'test/bench/queue/main.ts', ['--scenario', 'nowhere'], 'there is no workload nowhere; '],
  ['sim', 'test/simulation/main.ts', ['--family', 'calm,nowhere'], 'there is no family nowhere; '],
])('npm run %s refuses what it cannot play', (_script, program, words, told) => {
  const args = ['--import', 'tsx', program, ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([status === 0, stdout]).toEqual([false, '']);
  expect(stderr).toContain(told);
});
