import {
  backportBranch,
  DEFAULT_SERVICE_NAME,
  gateFileName,
  stagingBranch,
  stagingPrefix,
  workPrefix,
} from '#core/domain/queue/queue-names.ts';
import { describeQueued } from '../../engine-container/src/queue/words/describe.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import type { FileChanges } from '../support/forge-control.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Odds } from './odds.ts';
import { SettingsFiles } from './settings-files.ts';

/** Another branch with a rule that asks for a status: one that no queue manages, or one that has a queue of its own. */
export const RELEASE = 'release';

/** A branch without a queue that every project has. */
const CARRIED_TO = 'other';

/** Unusual acts of the people of a project, each in a plot of its own. */
export interface Plot {
  /** Opens a pull request of its own kind in place of a usual one; false = not this time. */
  open?(): Promise<boolean>;
  /** Acts in place of the usual; false = not this time. */
  act?(): Promise<boolean>;
  /** All people become reasonable. */
  heal?(): Promise<void>;
  /** Whether these words on the head of a pull request of this plot are true and say what its author needs to know. */
  isTold?(pr: number, words: string): Promise<boolean>;
}

/** The means of a plot in its project. */
export interface Stagehand {
  readonly forge: AbstractForge;
  readonly random: SeededRandom;
  readonly odds: () => Readonly<Odds>;
  readonly gatePath: string;
  readonly prs: readonly number[];
  note(line: string): void;
  sometimes(what: string): void;
  /** A name that no branch has had. */
  takeName(): string;
  /** Opens a pull request, knows its head from then on, and presses the button as people do. */
  open(pull: NewPull): Promise<number>;
  /** Pull requests to another managed branch of the repository, where it has one. */
  readonly elsewhere?: () => readonly number[];
  press(pr: number): Promise<void>;
}

export interface NewPull {
  readonly branch: string;
  readonly title?: string;
  readonly files?: FileChanges;
  readonly head?: string;
  readonly base?: string;
}

export function drawPlots(hand: Stagehand, odds: Readonly<Odds>): readonly Plot[] {
  const plots: Plot[] = [];
  if (odds.sharedHeads > 0 && hand.elsewhere !== undefined)
    plots.push(new HeadsOfOthers(hand, hand.elsewhere));
  if (odds.sharedHeads > 0) plots.push(new SharedHeads(hand));
  if (odds.otherMerges + odds.otherTrees > 0) plots.push(new TwoSides(hand));
  if (odds.gateEdits > 0) plots.push(new GateEdits(hand));
  if (odds.skipTitles > 0) plots.push(new SkipTitles(hand));
  if (odds.takenNames > 0) plots.push(new TakenNames(hand));
  if (odds.curse > 0) plots.push(new Curse(hand));
  if (odds.blocks > 0) plots.push(new Blocks(hand));
  if (odds.backports > 0) plots.push(new Backports(hand));
  if (odds.settingsFiles > 0) plots.push(new SettingsFiles(hand));
  return plots;
}

/** One commit is the head of several: twins at once, on one base or on two with rules, and again after a revert. */
class SharedHeads implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { random, odds, prs } = this.#hand;
    if (prs.length === 0 || !random.chance(odds().sharedHeads)) return false;
    return this.#openTwin(prs[random.int(prs.length)] ?? 0);
  }

  async act(): Promise<boolean> {
    const { random, odds, prs } = this.#hand;
    if (prs.length === 0 || !random.chance(odds().sharedHeads)) return false;
    const pr = prs[random.int(prs.length)] ?? 0;
    return this.#hand.forge.isMerged(pr) ? this.#revertOrRepeat(pr) : this.#openTwin(pr);
  }

  async #openTwin(of: number): Promise<boolean> {
    const { forge, random, note, sometimes } = this.#hand;
    const pull = await forge.pull(of);
    if (pull.fromFork || pull.agit) return false;
    const branches = await forge.branches();
    const isManaged = this.#hand.elsewhere !== undefined;
    if (!branches.includes(RELEASE)) {
      await forge.pushBranch(RELEASE, await forge.tip(forge.base));
      await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, RELEASE);
    }
    const base = random.chance(0.5) && !isManaged ? RELEASE : forge.base;
    // One branch may be proposed for two bases; for one base it takes two branches.
    const branch =
      base !== forge.base && branches.includes(pull.headRef) && random.chance(0.5)
        ? pull.headRef
        : this.#hand.takeName();
    const isThere = (await this.#openOn(base)).some((other) => other.headRef === branch);
    if (isThere) return false;
    const twin = await this.#hand.open({ branch, head: pull.headSha, base, title: `Twin of ${of}` });
    note(`#${twin} has the head of #${of} for ${base}`);
    sometimes(base === forge.base ? 'one head twice' : 'one head for two bases');
    return true;
  }

  async #openOn(base: string) {
    const { forge, prs } = this.#hand;
    const pulls = await Promise.all(prs.map((pr) => forge.pull(pr)));
    return pulls.filter((pull) => pull.state === 'open' && pull.baseRef === base);
  }

  async isTold(pr: number, words: string): Promise<boolean> {
    if (!words.startsWith('refused: this commit also heads a pull request to another branch')) return false;
    const { headSha } = await this.#hand.forge.pull(pr);
    return (await this.#openOn(RELEASE)).some((other) => other.headSha === headSha);
  }

  async #revertOrRepeat(pr: number): Promise<boolean> {
    const { forge, note, sometimes } = this.#hand;
    const merge = forge.merges().find((each) => each.pr === pr);
    if (merge === undefined) return false;
    const before = await forge.readFiles(merge.firstParent);
    const after = await forge.readFiles(merge.mergeCommit);
    const now = await forge.readFiles(await forge.tip(forge.base));
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    );
    if (changed.length === 0) return false;
    const isReverted = changed.every((path) => now.get(path) === before.get(path));
    const branch = this.#hand.takeName();
    if (isReverted) {
      const again = await this.#hand.open({ branch, head: merge.head, title: `Again ${pr}` });
      note(`#${again} is #${pr} again, whose landing was reverted`);
      sometimes('a landed head again');
      return true;
    }
    const files = Object.fromEntries(changed.map((path) => [path, before.get(path) ?? null]));
    const revert = await this.#hand.open({ branch, files, title: `Revert ${pr}` });
    note(`#${revert} reverts #${pr}`);
    return true;
  }
}

/** A head of a pull request to the other managed branch is proposed for this one as well. */
class HeadsOfOthers implements Plot {
  readonly #hand: Stagehand;
  readonly #elsewhere: () => readonly number[];

  constructor(hand: Stagehand, elsewhere: () => readonly number[]) {
    this.#hand = hand;
    this.#elsewhere = elsewhere;
  }

  open(): Promise<boolean> {
    return this.act();
  }

  async act(): Promise<boolean> {
    const { forge, random, odds, note, sometimes } = this.#hand;
    const others = this.#elsewhere();
    if (others.length === 0 || !random.chance(odds().sharedHeads)) return false;
    const of = others[random.int(others.length)] ?? 0;
    const { headSha } = await forge.pull(of);
    const twin = await this.#hand.open({
      branch: this.#hand.takeName(),
      head: headSha,
      title: `Port of ${of}`,
    });
    note(`#${twin} has the head of #${of} of the other branch`);
    sometimes('one head for two managed branches');
    return true;
  }
}

/** Labels of backports to a branch that is there, to one that is not and to the base, and what gets in their way. */
class Backports implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { random, odds, takeName } = this.#hand;
    if (!random.chance(odds().backports)) return false;
    const branch = takeName();
    const pr = await this.#hand.open({ branch, files: { [`src/${branch}.txt`]: `${branch}\n` } });
    if (random.chance(0.3)) await this.#bringTo(pr);
    for (const name of [CARRIED_TO, CARRIED_TO, 'v99', 'main'])
      if (random.chance(0.4)) await this.#label(pr, name);
    return true;
  }

  async act(): Promise<boolean> {
    const { forge, random, odds, prs, note, sometimes } = this.#hand;
    if (prs.length === 0 || !random.chance(odds().backports)) return false;
    const pr = prs[random.int(prs.length)] ?? 0;
    const head = backportBranch(DEFAULT_SERVICE_NAME, pr, CARRIED_TO);
    const kind = random.int(10);
    if (kind === 0 && !(await forge.branches()).includes(head)) {
      note(`a person makes ${head}`);
      await forge.pushBranch(head, await forge.tip(forge.base));
    } else if (kind === 1) {
      await this.#bringTo(pr);
    } else if (kind === 2) {
      const [made] = forge.pullsFrom(head).filter(({ state }) => state === 'open');
      if (made === undefined) return false;
      sometimes('a backport is closed');
      await forge.close(made.number);
    } else {
      await this.#label(pr, random.pick([CARRIED_TO, CARRIED_TO, CARRIED_TO, 'v99', forge.base]));
    }
    return true;
  }

  async #label(pr: number, branch: string): Promise<void> {
    this.#hand.note(`#${pr} is labelled for a backport to ${branch}`);
    await this.#hand.forge.setLabel(pr, `backport ${branch}`, true, 'dev');
  }

  /** Its file comes to the other branch by hand, as it is or otherwise. */
  async #bringTo(pr: number): Promise<void> {
    const { forge, random, note } = this.#hand;
    const files = await forge.readFiles(forge.headOf(pr));
    const path = [...files.keys()].findLast((each) => each.startsWith('src/')) ?? 'shared.txt';
    note(`${path} of #${pr} comes to ${CARRIED_TO}`);
    const content = random.chance(0.5) ? 'otherwise\n' : (files.get(path) ?? '');
    await forge.pushToBase({ [path]: content }, CARRIED_TO);
  }
}

/** Files that both sides change: the forge merges them in its own way. */
class TwoSides implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { forge, random, odds, note, sometimes } = this.#hand;
    if (!random.chance(odds().otherMerges + odds().otherTrees)) return false;
    const now = await forge.readFiles(await forge.tip(forge.base));
    const lines = (now.get('lines.txt') ?? '').split('\n').slice(0, -1);
    const name = this.#hand.takeName();
    const at = random.int(Math.max(1, lines.length));
    const content = `${lines.map((line, index) => (index === at ? name : line)).join('\n')}\n`;
    const pr = await this.#hand.open({
      branch: name,
      title: `Line ${name}`,
      files: { 'lines.txt': content },
    });
    note(`#${pr} changes line ${at}`);
    sometimes('a file changed on both sides');
    return true;
  }

  async isTold(pr: number, words: string): Promise<boolean> {
    const { forge } = this.#hand;
    const isConflict = forge.previewMerge(forge.tipOfBase(), forge.headOf(pr)) === null;
    return isConflict && words.startsWith('refused: the forge has called it a conflict');
  }
}

const SILENT_GATES: readonly [string, ...string[]] = [
  'on:\n  push:\n    branches: [main]\njobs:\n  gate:\n    steps:\n      - run: test\n',
  'on: workflow_dispatch\njobs:\n  gate:\n    steps:\n      - run: test\n',
  'not: [a, workflow\n',
];
const SKIPPING_GATE =
  'on:\n  push:\n    branches: ["**"]\njobs:\n  gate:\n    if: false\n    steps:\n      - run: test\n';

/** People who delete, rename or edit the gate's file. A gate that is silent or skips its jobs would be so for all if it landed. */
class GateEdits implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { random, odds, gatePath, note, sometimes } = this.#hand;
    if (!random.chance(odds().gateEdits)) return false;
    const name = this.#hand.takeName();
    const kind = random.int(4);
    const more = random.chance(0.5) ? { [`src/${name}.txt`]: `${name}\n` } : {};
    const edits: readonly FileChanges[] = [
      { [gatePath]: null },
      {
        [gatePath]: null,
        [gatePath.replace(gateFileName(DEFAULT_SERVICE_NAME), 'other.yaml')]: SILENT_GATES[0],
      },
      { [gatePath]: random.pick(SILENT_GATES) },
      { [gatePath]: SKIPPING_GATE },
    ];
    const pr = await this.#hand.open({
      branch: name,
      title: `Gate ${name}`,
      files: { ...edits[kind], ...more },
    });
    note(`#${pr} ${['deletes', 'renames', 'silences', 'skips'][kind]} the gate`);
    sometimes(`gate ${['deleted', 'renamed', 'silenced', 'skipped'][kind]}`);
    return true;
  }
}

/** A title becomes the message of a squash: on the base it would tell the forge to run nothing. */
class SkipTitles implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { random, odds, sometimes } = this.#hand;
    if (!random.chance(odds().skipTitles)) return false;
    const name = this.#hand.takeName();
    const title = `${random.pick(['[skip ci]', '[ci skip]', '[no ci]'])} ${name}`;
    const files = { [`src/${name}.txt`]: random.chance(0.2) ? 'BAD\n' : `${name}\n` };
    await this.#hand.open({ branch: name, title, files });
    sometimes('a title that skips runs');
    return true;
  }
}

const OUR_NAMES: readonly [string, ...string[]] = [
  DEFAULT_SERVICE_NAME,
  `${stagingPrefix(DEFAULT_SERVICE_NAME)}main`,
  stagingBranch(DEFAULT_SERVICE_NAME, 'main'),
  `${stagingBranch(DEFAULT_SERVICE_NAME, 'main')}-b`,
  `${stagingBranch(DEFAULT_SERVICE_NAME, 'main')}/deep`,
  `${stagingPrefix(DEFAULT_SERVICE_NAME)}notes`,
  workPrefix(DEFAULT_SERVICE_NAME).slice(0, -1),
  `${workPrefix(DEFAULT_SERVICE_NAME)}main`,
  `${workPrefix(DEFAULT_SERVICE_NAME)}main/notes`,
];

/** People who have branches and tags under the names of the queue, for a while. */
class TakenNames implements Plot {
  readonly #hand: Stagehand;
  readonly #taken = new Set<string>();

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async act(): Promise<boolean> {
    const { forge, random, odds, note, sometimes } = this.#hand;
    if (!random.chance(odds().takenNames)) return false;
    const [held] = [...this.#taken];
    if (held !== undefined && random.chance(0.5)) {
      await this.#giveBack(held);
      return true;
    }
    const name = random.pick(OUR_NAMES);
    const tip = await forge.tip(forge.base);
    if (random.chance(0.2)) {
      await forge.pushTag(name, tip);
      sometimes('a tag of our name');
    } else {
      const branches = await forge.branches();
      // The queue's own branches there keep people's git from pushing beside or below them.
      const isInTheWay = (other: string) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`);
      if (branches.some(isInTheWay)) return false;
      await forge.pushBranch(name, tip);
      this.#taken.add(name);
      sometimes('a branch of our name');
    }
    note(`a person takes the name ${name}`);
    return true;
  }

  async heal(): Promise<void> {
    for (const name of this.#taken) await this.#giveBack(name);
  }

  async #giveBack(name: string): Promise<void> {
    const { forge, note } = this.#hand;
    this.#taken.delete(name);
    if (!(await forge.branches()).includes(name)) return;
    note(`a person gives the name ${name} back`);
    await forge.deleteBranch(name);
  }
}

const CURSES = ['staging', 'listing', 'timeline', 'reviews', 'pull', 'statuses'] as const;
type CurseKind = (typeof CURSES)[number];
/** The queue knows who it is and that it is scheduled: then its author is told. */
const TOLD_CURSES: readonly CurseKind[] = ['staging', 'listing'];
const TOLD = /^(refused|waiting|bounced): /;

/** Something about one pull request makes the forge fail, and that never passes. The others are none the wiser. */
class Curse implements Plot {
  readonly #hand: Stagehand;
  readonly #kind: CurseKind;
  readonly #status: number;
  #cursed: { readonly pr: number; readonly path: string } | null = null;
  #opened = 0;

  constructor(hand: Stagehand) {
    this.#hand = hand;
    this.#kind = hand.random.pick(CURSES);
    this.#status = hand.random.pick([500, 500, 502, 404, 0]);
    const others = hand.forge.fault;
    hand.forge.fault = (call) => (this.#strikes(call) ? { status: this.#status } : others(call));
  }

  async open(): Promise<boolean> {
    const { note, sometimes } = this.#hand;
    this.#opened += 1;
    if (this.#cursed !== null || this.#opened < 2) return false;
    const name = this.#hand.takeName();
    const path = `src/cursed-${name}.txt`;
    const pr = await this.#hand.open({ branch: name, title: `Add ${name}`, files: { [path]: `${name}\n` } });
    this.#cursed = { pr, path };
    note(`#${pr} is cursed: ${this.#kind} answers ${this.#status}`);
    sometimes(`cursed ${this.#kind}`);
    return true;
  }

  #strikes({ method, path, about }: Parameters<AbstractForge['fault']>[0]): boolean {
    if (this.#cursed === null) return false;
    const { pr, path: file } = this.#cursed;
    switch (this.#kind) {
      case 'staging':
        return about?.includes(file) === true;
      case 'timeline':
        return path.endsWith(`/issues/${pr}/timeline`);
      case 'reviews':
        return path.endsWith(`/pulls/${pr}/reviews`);
      case 'pull':
        return method === 'GET' && path.endsWith(`/pulls/${pr}`);
      case 'listing':
        return path.endsWith(`/git/trees/${this.#hand.forge.headOf(pr)}`);
      case 'statuses':
        return method === 'GET' && path.endsWith(`/commits/${this.#hand.forge.headOf(pr)}/status`);
    }
  }

  /**
   * Of what cannot be read nothing can be told: asked is only that no other waits for it. Once an hour one that was told
   * is tried again, and says so for the minutes of that.
   */
  async isTold(pr: number, words: string): Promise<boolean> {
    if (pr !== this.#cursed?.pr) return false;
    if (!TOLD_CURSES.includes(this.#kind) || TOLD.test(words)) return true;
    const { forge } = this.#hand;
    const said = forge.statusHistory(forge.headOf(pr)).map(({ description }) => description);
    return words === describeQueued() && said.some((each) => TOLD.test(each));
  }
}

/** Pull requests that the forge never merges by itself, and those that it merges only after another event (D-14). */
class Blocks implements Plot {
  readonly #hand: Stagehand;
  readonly #protected = new Set<number>();
  readonly #dependsOn = new Map<number, number>();

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { forge, random, odds, prs, note, sometimes } = this.#hand;
    if (!random.chance(odds().blocks)) return false;
    const name = this.#hand.takeName();
    if (prs.length === 0 || random.chance(0.5)) {
      await forge.setProtection({ protectedFilePatterns: 'secrets/**' });
      this.#protected.add(await this.#hand.open({ branch: name, files: { [`secrets/${name}.txt`]: name } }));
      sometimes('a protected file');
      return true;
    }
    const on = prs[random.int(prs.length)] ?? 0;
    const pr = await this.#hand.open({ branch: name, files: { [`src/${name}.txt`]: `${name}\n` } });
    await forge.addDependency(pr, on);
    this.#dependsOn.set(pr, on);
    note(`#${pr} depends on #${on}`);
    sometimes('a dependency');
    return true;
  }

  async isTold(pr: number, words: string): Promise<boolean> {
    if (words.startsWith('refused: it changes files that the branch rule protects'))
      return this.#protected.has(pr);
    const on = this.#dependsOn.get(pr);
    if (on === undefined || !words.startsWith('refused: an issue or pull request that it depends on is open'))
      return false;
    return (await this.#hand.forge.pull(on)).state === 'open';
  }
}
