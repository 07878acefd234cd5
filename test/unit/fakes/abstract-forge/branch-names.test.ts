import { setUp } from './set-up.ts';

const REFUSAL = { kind: 'rejected', status: 422 };
const LONGEST = `work/${'x'.repeat(95)}`;
const FILES = [{ path: 'a.txt', content: Buffer.from('a\n'), replaces: null }];

describe('a name of a branch of more than 100 characters', () => {
  test('is refused of a new branch, and of the one that a commit is made on', async () => {
    const { control, bot } = setUp();
    const tip = await control.tip('main');
    const request = { branch: 'main', message: 'm' };
    await expect(bot.createBranch(`${LONGEST}y`, tip)).rejects.toMatchObject(REFUSAL);
    for (const of of [
      { ...request, newBranch: `${LONGEST}y` },
      { ...request, branch: `${LONGEST}z`, newBranch: 'work/1' },
    ]) {
      await control.pushBranch(`${LONGEST}z`, tip);
      await expect(bot.writeFiles({ ...of, files: FILES })).rejects.toMatchObject(REFUSAL);
      await expect(bot.applyPatch({ ...of, patch: '' })).rejects.toMatchObject(REFUSAL);
    }
    await expect(bot.writeFiles({ ...request, newBranch: LONGEST, files: FILES })).resolves.toMatchObject({
      parents: [tip],
    });
  });

  test('is that of a branch like others where git made it', async () => {
    const { control, bot } = setUp();
    await control.pushBranch(`${LONGEST}y`, await control.tip('main'));
    expect(await bot.readBranchTip(`${LONGEST}y`)).toBe(await control.tip('main'));
  });
});
