import { readRunnerLabels } from '#core/adapters/forge-http/gate/run-jobs.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { openScripted } from '../../../../../support/open-scripted.ts';
import type { ScriptedAnswer } from '../../../../../support/scripted-forge.ts';

const NO_ROUTE: ScriptedAnswer = { status: 404, text: '<html>not found</html>', type: 'text/html' };
const read = (answer: ScriptedAnswer, run = '7') => {
  const { transport, seen } = openScripted(() => answer);
  return { labels: readRunnerLabels(transport, run), seen };
};
const job = (id: number, status: string, more: object) => ({ id, name: `job ${id}`, status, ...more });

describe('the labels that a runner has to have', () => {
  test('are those of the first job that a runner could take: on Gitea one that is queued', async () => {
    const jobs = [
      job(1, 'completed', { conclusion: 'success', labels: ['small'] }),
      job(2, 'waiting', { labels: ['later'] }),
      job(3, 'queued', { labels: ['gpu', 'linux'] }),
      job(4, 'queued', { labels: ['other'] }),
    ];
    const { labels, seen } = read({ json: { jobs, total_count: 4 } });
    expect(await labels).toEqual(['gpu', 'linux']);
    expect(seen.map(({ path }) => path)).toEqual(['/actions/runs/7/jobs']);
  });

  test('on Forgejo one that waits, in rows alone', async () => {
    const rows = [job(1, 'blocked', { runs_on: ['later'] }), job(2, 'waiting', { runs_on: ['docker'] })];
    expect(await read({ json: rows }).labels).toEqual(['docker']);
  });

  test.each<[string, ScriptedAnswer]>([
    ['a version without the list', NO_ROUTE],
    ['no job that waits', { json: { jobs: [job(1, 'in_progress', { labels: ['gpu'] })] } }],
    ['a job without labels', { json: { jobs: [job(1, 'queued', { labels: null })] } }],
    ['labels that are none', { json: { jobs: [job(1, 'queued', { labels: 'gpu' })] } }],
    ['no rows', { json: null }],
  ])('are not known: %s', async (_what, answer) => {
    expect(await read(answer).labels).toBeNull();
  });

  test('are asked of a run of the list alone', async () => {
    const { labels, seen } = read({ json: [] }, 'status-9');
    expect([await labels, seen]).toEqual([null, []]);
  });

  test('are text of the workflow: cut, and without control characters', async () => {
    const labels = ['a\u001b[2Jb', ' ', 'x'.repeat(200), ...Array.from({ length: 9 }, (_, nth) => `l${nth}`)];
    expect(await read({ json: { jobs: [job(1, 'queued', { labels })] } }).labels).toEqual([
      'a?[2Jb',
      'x'.repeat(50),
      'l0',
      'l1',
      'l2',
    ]);
  });

  test('are not made up where the forge fails', async () => {
    await expect(read({ status: 500, json: {} }).labels).rejects.toThrow(ForgeError);
  });
});
