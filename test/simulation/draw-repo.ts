import type { RepoId } from '#core/domain/ids.ts';
import { contextForBase, DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { Secret } from '#core/secret.ts';
import { givenRepo } from '../builders/managed-repo.ts';
import { STATUS_GATE } from '../scenario/world.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Family } from './families.ts';
import type { Managed } from './managed.ts';
import type { Odds } from './odds.ts';
import { RELEASE } from './plot.ts';
import { chooseRules } from './rules.ts';
import { EXEMPTING_LABEL } from './watch.ts';

const PRIORITY_LABELS = {
  incidentLabels: ['incident'],
  highLabels: ['high'],
  lowLabels: ['low'],
  priorityPeople: ['oncall'],
} as const;
/** As the service has set it up, and may put it back. */
const MANAGED_RULE: Partial<ManagedRepo> = {
  repairSetup: true,
  protectionRequested: true,
  provisioning: {
    webhook: 'not_tried',
    strayContexts: [],
    lastProvisionedAt: 0,
    protection: { kind: 'required', ruleName: 'main', reasons: [] },
  },
  ciGate: { status: 'verified', url: null, setupPr: null, probe: null },
};
const FREEZE_LABELS = { freezeExemptLabels: [EXEMPTING_LABEL], priorityPeople: ['oncall'] } as const;
const AUTO_FAMILIES: readonly Family[] = ['one_author', 'priorities'];

interface Place {
  readonly id: RepoId;
  /** Among the repositories of its life, from 1. */
  readonly index: number;
  readonly seed: number;
  readonly family: Family;
  /** As drawn for the life. */
  readonly odds: Readonly<Odds>;
  /** The first branch of the same repository, where this is a further one. */
  readonly first: Managed | undefined;
  readonly sharesForge: boolean;
  readonly runsOnHeads: boolean;
  readonly dueAt: number;
  readonly world: SeededRandom;
  readonly people: SeededRandom;
}

/** A repository of a life as its queue knows it. In another order of draws each seed would have another life. */
export function drawRepo(place: Place) {
  const { id, index, family, odds, first, world } = place;
  const style: MergeStyle = world.pick(['squash', 'squash', 'squash', 'merge']);
  const webhooks = world.chance(0.5);
  const base = first === undefined ? 'main' : RELEASE;
  const context = first === undefined ? DEFAULT_SERVICE_NAME : contextForBase(DEFAULT_SERVICE_NAME, base);
  const contexts = [context, contextForBase(context, 'next')] as const;
  // While the plan does not pay, all repositories of one owner but the oldest are held.
  const isSameTenant = index === 3 || family === 'interrupted' || place.sharesForge;
  const tenantId = `tenant-${isSameTenant ? 1 : index}`;
  const rules = odds.otherSchedulers > 0 ? chooseRules(place.people, odds.oneAuthor > 0) : undefined;
  const repo = givenRepo({
    id,
    tenantId,
    connectionId: `0000000${tenantId.slice(-1)}-0000-4000-8000-000000000000`,
    slug: first?.forge.slug ?? `acme/app-${index}`,
    baseBranch: base,
    statusContext: context,
    mergeStyle: style,
    wakeupMode: webhooks ? 'webhook' : 'poll',
    // One hook serves all branches of a repository.
    webhookSecret: first === undefined ? new Secret(`hook-secret-${index}`) : null,
    bisectFanout: world.pick([1, 1, 2, 4, 16]),
    batchLingerSeconds: world.pick([0, 0, 0, 90]),
    ...chooseFanout(place),
    dueAt: place.dueAt,
    ...(odds.otherCi > 0 ? STATUS_GATE : {}),
    ...(place.runsOnHeads ? { reuseCi: true } : {}),
    ...(odds.freezesPerHour > 0 ? FREEZE_LABELS : odds.labelsPerHour > 0 ? PRIORITY_LABELS : {}),
    ...(odds.driftsPerHour > 0 ? MANAGED_RULE : {}),
    ...(odds.backports > 0 ? { backports: true } : {}),
    ...(odds.settingsFiles > 0 ? { settingsFile: true } : {}),
    ...rules,
    // The family of hostile people starts with a queue that was switched on long ago.
    enabledAt: 0,
  });
  return { repo, contexts, rules };
}

/** In some lives with many landings, by the seed alone, the queue chooses how many gate runs are out at once. */
function chooseFanout({ family, seed }: Place): Partial<ManagedRepo> {
  if (!AUTO_FAMILIES.includes(family) || seed % 2 === 0) return {};
  return { fanoutAuto: true, autoRunsPer100Landed: seed % 4 === 1 ? 40 : 400 };
}
