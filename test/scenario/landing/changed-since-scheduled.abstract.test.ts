import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { NativeStyle } from '../../fakes/abstract-forge/world.ts';
import { type Stage, setStage, wordOn, wordsOn } from '../../simulation/scene-stage.ts';
import { givenProject, givenScheduled } from '../stories.ts';

/**
 * The repository or its rule asks for something else since a pull request was scheduled, and its merge does not come: told by that
 * cause after a minute, not after ten or twenty (decision 0365).
 */

const MINUTE_MS = 60_000;
type Change = (stage: Stage) => unknown;

const forbid =
  (...styles: readonly NativeStyle[]): Change =>
  ({ forge }) => {
    for (const style of styles) forge.forbidStyle(style);
  };
const demandSignatures: Change = ({ forge }) => forge.setProtection({ requiresSigned: true });

const CHANGES = [
  ['only fast-forwards are allowed', forbid('squash', 'merge', 'rebase'), 'style_off'],
  ['its style is not allowed any more', forbid('squash'), 'style_off'],
  ['commits have to be signed', demandSignatures, 'merge_unsigned'],
] as const;

async function givenScheduledOne(rowDeletedBeforeMerge: boolean): Promise<readonly [Stage, number]> {
  const stage = await setStage({ lastingEngine: true, switches: { rowDeletedBeforeMerge } });
  await givenProject(stage.forge);
  return [stage, await givenScheduled(stage.forge, 'a')];
}

const untilSuccess = (stage: Stage, pr: number) =>
  stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });

async function minutesUntilTold(stage: Stage, pr: number, says: string): Promise<number> {
  const begunAt = stage.clock.now();
  await stage.drain({ maxMs: 60 * MINUTE_MS, until: async () => (await wordsOn(stage, pr)) === says });
  expect(await wordsOn(stage, pr)).toBe(says);
  return (stage.clock.now() - begunAt) / MINUTE_MS;
}

describe.each(CHANGES)('%s', (_case, change, code) => {
  const { says } = PULL_CODES[code];

  test.each([true, false])(
    'since its success was posted: told within minutes (the forge drops the schedule first: %s)',
    async (rowDeletedBeforeMerge) => {
      const [stage, pr] = await givenScheduledOne(rowDeletedBeforeMerge);
      stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
      await untilSuccess(stage, pr);
      await change(stage);
      stage.forge.mergeBehaviour = () => ({ kind: 'now' });
      expect(await minutesUntilTold(stage, pr, says)).toBeLessThan(4);
      expect((await stage.record()).mergeTimeoutCounts).toEqual([]);
    },
  );

  test('since it was scheduled: told within minutes, and the next one is tried', async () => {
    const [stage, pr] = await givenScheduledOne(false);
    const { forge } = stage;
    await stage.drain({ until: async () => forge.runs().length > 0 });
    await change(stage);
    await untilSuccess(stage, pr);
    expect(await minutesUntilTold(stage, pr, says)).toBeLessThan(4);
    const { headSha } = await forge.pull(pr);
    const told = forge.statusHistory(headSha).map(({ description }) => description ?? '');
    const after = told.slice(told.findLastIndex((each) => each.startsWith('proven:')) + 1);
    expect([...new Set(after)]).toEqual([says]);
    const next = await givenScheduled(forge, 'b');
    await untilSuccess(stage, next);
    expect(forge.isMerged(pr)).toBe(false);
  });
});
