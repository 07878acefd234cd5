import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import type { Managed } from './managed.ts';
import type { Plot, Stagehand } from './plot.ts';

const FILE = '.mergeyard.yml';
/** Right files and what each sets, said here once more and by hand. */
const RIGHT: Readonly<Record<string, object>> = {
  'bisect_fanout: 1\n': { bisect_fanout: 1 },
  'bisect_fanout: 4\nbatch_target: 2\n': { bisect_fanout: 4, batch_target: 2 },
  'batch_linger_seconds: 60\n': { batch_linger_seconds: 60 },
  '# Nothing.\n': {},
};
const WRONG: readonly string[] = ['bisect_fanout: many\n', 'gate: statuses\n', 'bisect_fanuot: 4\n'];
const TEXTS = [...Object.keys(RIGHT), ...WRONG, null] as const;

/** People propose settings files, right ones and wrong ones, and propose to take them away. */
export class SettingsFiles implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { forge, random, odds, note, sometimes } = this.#hand;
    if (!random.chance(odds().settingsFiles)) return false;
    const text = TEXTS[random.int(TEXTS.length)] ?? null;
    const isThere = (await forge.readFiles(forge.tipOfBase())).has(FILE);
    // Beside the removal something else, so that there always is a change.
    const name = this.#hand.takeName();
    const files = {
      [`src/${name}.txt`]: `${name}\n`,
      ...(text === null && !isThere ? {} : { [FILE]: text }),
    };
    const pr = await this.#hand.open({ branch: name, files });
    note(`#${pr} proposes settings ${JSON.stringify(text)}`);
    const kind = text === null ? 'none' : WRONG.includes(text) ? 'a wrong one' : 'a right one';
    sometimes(`a settings file is proposed: ${kind}`);
    return true;
  }
}

/** The values in force are those of a right file in the history of the base (A135, A136). */
export function listFileFaults(
  { forge }: Pick<Managed, 'forge'>,
  { settingsSeen }: QueueRecord,
): readonly string[] {
  if (settingsSeen === undefined) return [];
  const { from, commit, values } = settingsSeen;
  const strange = [from, commit].filter(
    (sha) => sha !== null && !forge.mergeBases(sha, forge.tipOfBase()).includes(sha),
  );
  if (strange.length > 0) return ['settings are those of a commit that is not on the base'];
  const text = from === null ? null : forge.readTreeFiles(forge.commit(from).tree).get(FILE);
  const expected = text === null ? {} : RIGHT[text ?? ''];
  return JSON.stringify(expected) === JSON.stringify(values)
    ? []
    : [`settings ${JSON.stringify(values)} are not those of ${JSON.stringify(text)}`];
}
