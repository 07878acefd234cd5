import type { RepoId } from '#core/domain/ids.ts';
import { DEFAULT_SERVICE_NAME, gateFileName } from '#core/domain/queue/queue-names.ts';
import { type AbstractForge, createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import {
  FORGEJO_15_SWITCHES,
  GITEA_126_SWITCHES,
  type JournalEntry,
  type Switches,
} from '../fakes/abstract-forge/world.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { SimClock } from '../support/sim-clock.ts';
import { type Family, PROMPT } from './families.ts';
import type { Managed } from './managed.ts';
import { drawLateness } from './moods.ts';
import type { Odds } from './odds.ts';
import type { Witness } from './service/hosts.ts';
import type { SimService } from './service/service.ts';

/** Families whose forge may be either kind. */
const EITHER_KIND: readonly Family[] = ['shared_heads', 'storm'];
const GITEA_CHANCE = 0.4;

/** Which forge a life is on: drawn from `random`, its kind from `rare`. */
export function drawForge(
  family: Family,
  random: SeededRandom,
  rare: SeededRandom,
  options: {
    readonly clock: SimClock;
    readonly slug: string;
    readonly bot: string;
    /** The CI runs on every branch that is pushed. */
    readonly runsOnHeads: boolean;
    readonly onEntry: (entry: JournalEntry) => void;
  },
): { readonly forge: AbstractForge; readonly gatePath: string } {
  const drawn = {
    recheckTriggers: random.chance(0.7),
    rowDeletedBeforeMerge: random.chance(0.5),
    mergesUncheckedHead: family === 'unchecked_head',
  };
  const isGitea = family === 'gitea' || (EITHER_KIND.includes(family) && rare.chance(GITEA_CHANCE));
  const ci = family === 'other_ci' ? 'statuses' : 'actions';
  const { runsOnHeads } = options;
  const switches: Switches = isGitea
    ? GITEA_126_SWITCHES
    : { ...FORGEJO_15_SWITCHES, ...drawn, ci, runsOnHeads };
  const forge = createAbstractForge({
    ...options,
    switches,
    delays: { pushEntryMs: random.pick([0, 0, 3_000]) },
  });
  return { forge, gatePath: `${switches.workflowFolders[0]}/${gateFileName(DEFAULT_SERVICE_NAME)}` };
}

const LATE_METHODS = ['POST', 'DELETE'];

/** Faults of single calls, as the forge's own client would meet them. */
export function setFaults(
  id: RepoId,
  forge: AbstractForge,
  random: SeededRandom,
  lateness: SeededRandom,
  service: SimService,
  witness: Witness,
  managedOf: (id: RepoId) => Managed | undefined,
): void {
  forge.isLate = ({ method, path }) => {
    if (path.endsWith('/diffpatch') && isPatchSlow(service.odds, random)) {
      witness.sometimes('slow patch');
      forge.lateEffectMs = PATCH_LATE_MS;
      service.engine.watchLate(id, PATCH_LATE_MS);
      return true;
    }
    if (!LATE_METHODS.includes(method) || !random.chance(service.odds.callLate)) return false;
    witness.note(`late effect of ${method} ${path}`);
    witness.sometimes(`late ${method}`);
    const lateMs = drawLateness(service.odds, lateness);
    forge.lateEffectMs = lateMs;
    service.engine.watchLate(id, lateMs);
    const sha = /statuses\/([0-9a-f]+)$/.exec(path)?.[1];
    if (sha !== undefined) managedOf(id)?.watch?.expectLate(sha, lateMs);
    return true;
  };
  forge.fault = ({ method, path }) => {
    if (service.isHidden(id)) return { status: 404, when: 'before' };
    if (!random.chance(service.odds.callFails)) return null;
    // A lie that says "no such thing" or "no such patch" cannot be told from the truth: the codes below leave it out.
    const status = random.pick([400, 401, 403, 429, 502, 503, 200, 0]);
    const when =
      random.chance(0.5) && (status === 0 || status >= 500) ? ('after' as const) : ('before' as const);
    witness.note(`fault ${status} ${when} ${method} ${path}`);
    witness.sometimes(`fault ${status}`);
    return status === 200 ? { status, html: true, when } : { status, when };
  };
}

function isPatchSlow({ slowPatches }: Readonly<Odds>, random: SeededRandom): boolean {
  return slowPatches > 0 && random.chance(slowPatches);
}

/** A checkout of a large repository goes on after the queue has given the call up. */
const PATCH_LATE_MS = 20_000;

const RARE_CHANCE = 0.1;
const SLOW_CHECK_MS = 90_000;

/** Now and then a forge whose check takes longer than the queue waits, or whose merges fail after all checks (E21). */
export function setRareTroubles(
  forge: AbstractForge,
  family: Family,
  odds: Readonly<Odds>,
  random: SeededRandom,
): void {
  if (odds.mergeLost === 0 || PROMPT.includes(family)) return;
  if (random.chance(RARE_CHANCE)) forge.checkDelayMs = SLOW_CHECK_MS;
  if (!random.chance(RARE_CHANCE)) return;
  forge.mergeFails = () => odds.mergeLost > 0 && random.chance(0.5);
}
