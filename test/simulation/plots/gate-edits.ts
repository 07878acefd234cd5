import { DEFAULT_SERVICE_NAME, gateFileName } from '#core/domain/queue/queue-names.ts';
import type { FileChanges } from '../../support/forge-control.ts';
import type { Plot, Stagehand } from '../plot.ts';

const SILENT_GATES: readonly [string, ...string[]] = [
  'on:\n  push:\n    branches: [main]\njobs:\n  gate:\n    steps:\n      - run: test\n',
  'on: workflow_dispatch\njobs:\n  gate:\n    steps:\n      - run: test\n',
  'not: [a, workflow\n',
];
const SKIPPING_GATE =
  'on:\n  push:\n    branches: ["**"]\njobs:\n  gate:\n    if: false\n    steps:\n      - run: test\n';

/** People who delete, rename or edit the gate's file. A gate that is silent or skips its jobs would be so for all if it landed. */
export class GateEdits implements Plot {
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
export class SkipTitles implements Plot {
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
