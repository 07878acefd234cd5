import type { BranchProtection } from '#core/domain/forge/forge.ts';
import { known } from '#core/domain/result.ts';
import type { LookBudget } from '../../../../engine-container/src/reading/look-budget.ts';
import { NamedTeams } from '../../../../engine-container/src/reading/named-teams.ts';
import { RightsReader } from '../../../../engine-container/src/reading/read-rights.ts';

function open() {
  const calls: string[] = [];
  const forge = {
    readWriteRight: async (login: string) => {
      calls.push(`right of ${login}`);
      return 'yes' as const;
    },
    readAllowedStyles: async () => {
      calls.push('styles');
      return ['squash'] as const;
    },
    listTeamMembers: async (team: string) => {
      calls.push(`team ${team}`);
      return null;
    },
  };
  const budget = { tryRead: async <T>(read: () => Promise<T>) => known(await read()) } as LookBudget;
  const teams = new NamedTeams({ forge, budget, rules: { scheduleTeams: [] } as never });
  return { calls, teams, rights: new RightsReader({ forge, budget }) };
}

const rule = { mergeList: ['ann'], mergeTeams: ['core'] } as unknown as BranchProtection;

test('who is named on the list of those who may merge is looked for in no team', async () => {
  const { calls, teams, rights } = open();
  expect(await rights.readMerger(teams, rule, 'Ann')).toEqual({
    allowedStyles: known(['squash']),
    schedulerWrites: known('yes'),
  });
  expect(calls).toEqual(['styles', 'right of Ann']);
});

test('another one is, and what holds of the whole repository is asked for once', async () => {
  const { calls, teams, rights } = open();
  expect((await rights.readMerger(teams, rule, 'bob')).mergePlace).toEqual(known('hidden'));
  await rights.readMerger(teams, rule, 'bob');
  expect(calls).toEqual(['styles', 'right of bob', 'team core']);
});
