import {
  type AbstractForge,
  GATE_WORKFLOW_FILE,
  GATE_WORKFLOW_PATH,
} from '../../../fakes/abstract-forge/index.ts';
import { STAGING, setUp, stage } from './set-up.ts';

describe('gate', () => {
  const SECOND = 1000;

  test('one run per push to mq/**, read by commit, branch and file', async () => {
    const { clock, control, bot } = setUp();
    const tip = await control.tip('main');
    await bot.createBranch('work', tip);
    await bot.createBranch(STAGING, tip);
    expect(await bot.readGate(tip, STAGING, GATE_WORKFLOW_FILE)).toEqual({ kind: 'none' });
    await clock.advance(SECOND);
    expect(control.runs()).toMatchObject([{ branch: STAGING, sha: tip, state: 'running' }]);
    expect(await bot.readGate(tip, STAGING, GATE_WORKFLOW_PATH)).toMatchObject({ kind: 'running' });
    expect(await bot.readGate(tip, 'mq/main/other', GATE_WORKFLOW_FILE)).toEqual({ kind: 'none' });
    expect(await bot.readGate(tip, STAGING, 'other.yaml')).toEqual({ kind: 'none' });
    await clock.advance(control.gateDurationMs);
    expect(await bot.readGate(tip, STAGING, GATE_WORKFLOW_FILE)).toMatchObject({ verdict: 'success' });
  });

  test('a newer push on the same branch cancels the older run', async () => {
    const { clock, control } = setUp();
    const pr = await control.openPullRequest({ branch: 'one', files: { f: '1' } });
    await stage(control, pr, 'main', STAGING);
    await clock.advance(SECOND);
    await control.pushBranch(STAGING, await control.tip('main'));
    await clock.advance(SECOND);
    expect(control.runs().map((run) => run.state)).toEqual(['cancelled', 'running']);
  });

  test.each<[name: string, act: (control: AbstractForge) => Promise<void>]>([
    ['the branch is deleted too early', async (f) => f.deleteBranch(STAGING)],
    [
      'the judge says never',
      async (f) => {
        f.judge = () => 'never';
      },
    ],
  ])('no run where %s', async (_, act) => {
    const { clock, control, bot } = setUp();
    await bot.createBranch(STAGING, await control.tip('main'));
    await act(control);
    await clock.advance(10 * SECOND);
    expect(control.runs()).toEqual([]);
  });

  test('no run where the tree has no workflow', async () => {
    const { clock, control, bot } = setUp({ files: { [GATE_WORKFLOW_PATH]: null } });
    await bot.createBranch(STAGING, await control.tip('main'));
    await clock.advance(10 * SECOND);
    expect(control.runs()).toEqual([]);
  });

  test('no run where the message asks for none', async () => {
    const { clock, control } = setUp();
    const pr = await control.openPullRequest({ branch: 'one', files: { f: '1' } });
    await stage(control, pr, 'main', STAGING, 'quiet [skip ci]');
    await clock.advance(10 * SECOND);
    expect(control.runs()).toEqual([]);
  });

  test('the judge sees the files, a held run waits for its end, a run can be cancelled', async () => {
    const { clock, control, bot } = setUp();
    const seen: unknown[] = [];
    control.judge = (files, run) => {
      seen.push(files.get('README.md'), run.branch);
      return 'hold';
    };
    await bot.createBranch(STAGING, await control.tip('main'));
    await clock.advance(3_600_000);
    expect(seen).toEqual(['# app\n', STAGING]);
    const [run] = control.runs();
    expect(run?.state).toBe('running');
    await control.finishRun(run?.id ?? '', 'failure');
    expect(control.runs()[0]?.state).toBe('failure');
    expect(await bot.cancelGateRun(run?.id ?? '')).toBe(true);
    expect(control.runs()[0]?.state).toBe('failure');
    expect(await bot.cancelGateRun('999')).toBe(false);
  });
});
