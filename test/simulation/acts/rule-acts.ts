import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type Act, CONTEXT, NEXT_CONTEXT, type Play } from './story.ts';
import { AT_ONCE_MS, LATE_MS, SOON_MS } from './waits.ts';

type Rule = Parameters<Play['forge']['setProtection']>[0];

const LINT = 'lint';
const rule =
  (changes: Rule) =>
  ({ forge }: Play): Promise<unknown> =>
    forge.setProtection(changes);
const asks = (...requiredContexts: string[]) => rule({ requiredContexts });
const access = (right: 'read' | 'write') => (play: Play) => play.forge.setAccess('dev', right);

async function passLint({ forge, prs }: Play): Promise<void> {
  for (const pr of prs) await forge.postStatusAs('ci', (await forge.pull(pr)).headSha, LINT, 'success');
}

const moveContext =
  (statusContext: string) =>
  async ({ forge, save }: Play): Promise<void> => {
    await forge.setProtection({ requiredContexts: [statusContext] });
    await save({ statusContext });
  };

const hold =
  (kind: 'pause' | 'drain') =>
  ({ save, now }: Play): Promise<void> =>
    save({ pause: { kind, reason: null, since: now(), until: null } });
const resume = ({ save }: Play): Promise<void> => save({ pause: null });
const turnOff = ({ save }: Play): Promise<void> => save({ queueEnabled: false });
const turnOn = ({ save, now }: Play): Promise<void> => {
  const changes: Partial<ManagedRepo> = { queueEnabled: true, enabledAt: now() };
  return save(changes);
};

/** Every answer of the forge fails with this code, or each that is to change something. */
const fail =
  (status: number | null, what: 'all' | 'writes' = 'all') =>
  async ({ forge }: Play): Promise<void> => {
    forge.fault = ({ method }) =>
      status === null || (what === 'writes' && method === 'GET') ? null : { status };
  };

/** An act that is taken back after each of these times. */
const takenBack = (
  name: string,
  waits: readonly number[],
  act: Act['act'],
  back: Act['act'],
  more: Partial<Act> = {},
): readonly Act[] =>
  waits.map((waitMs) => ({ name: `${name} +${waitMs}`, act, later: [waitMs, back], ...more }));

/** What owners do to the branch rule, to rights, and to the settings of the queue. */
export const RULE_ACTS: readonly Act[] = [
  {
    name: 'rule asks for requested reviews',
    act: async ({ forge, pr }) => {
      await forge.setProtection({ blockOnOfficialReviewRequests: true });
      await forge.requestReview(pr, 'rev3');
    },
    keepsOthers: true,
  },
  { name: 'rule asks for an approval', act: rule({ requiredApprovals: 1 }), keepsOthers: true },
  ...takenBack(
    'rule asks for two approvals, and for none',
    [SOON_MS, LATE_MS],
    rule({ requiredApprovals: 2 }),
    rule({ requiredApprovals: 0 }),
  ),
  { name: 'rule asks for lint', act: asks(CONTEXT, LINT), keepsOthers: true },
  ...takenBack('rule asks for lint, which passes', [SOON_MS, LATE_MS], asks(CONTEXT, LINT), passLint),
  {
    name: 'rule asks for lint alone',
    act: asks(LINT),
    isUnguarded: true,
    stops: true,
    dropsRule: true,
    keepsOthers: true,
  },
  ...takenBack('rule asks for lint alone, and back', [SOON_MS], asks(LINT), asks(CONTEXT), {
    isUnguarded: true,
  }),
  { name: 'rule blocks outdated branches', act: rule({ blockOnOutdatedBranch: true }), keepsOthers: true },
  { name: 'rule lets others merge', act: rule({ mergeList: ['ann'] }), keepsOthers: true },
  { name: 'context', act: moveContext(NEXT_CONTEXT) },
  ...takenBack('context, and back', [SOON_MS], moveContext(NEXT_CONTEXT), moveContext(CONTEXT)),
  { name: 'pause', act: hold('pause'), stops: true },
  { name: 'drain', act: hold('drain'), stops: true },
  ...takenBack('pause, resume', [SOON_MS, LATE_MS], hold('pause'), resume),
  { name: 'queue off', act: turnOff, stops: true },
  ...takenBack('queue off, on', [AT_ONCE_MS, SOON_MS, LATE_MS], turnOff, turnOn),
  {
    name: 'queue off and all cancelled, on',
    act: async (play) => {
      await turnOff(play);
      for (const pr of play.prs) await play.forge.cancelSchedule(pr);
    },
    later: [LATE_MS, turnOn],
    keepsOthers: true,
  },
  { name: 'who scheduled may write no more', act: access('read'), keepsOthers: true },
  ...takenBack('who scheduled may write no more, and again', [SOON_MS], access('read'), access('write'), {
    keepsOthers: true,
  }),
  ...takenBack('no write succeeds, and again', [SOON_MS, LATE_MS], fail(403, 'writes'), fail(null)),
  ...takenBack('token refused, and taken', [SOON_MS, LATE_MS], fail(401), fail(null)),
];
