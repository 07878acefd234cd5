import type { SeededRandom } from '../support/seeded-random.ts';

interface Change {
  readonly path: string;
  readonly content: string;
  /** The branch that it is built on; absent: the base. */
  readonly from?: string | undefined;
}

interface ChangeDeps {
  readonly name: string;
  /** How many were opened, with this one. */
  readonly opened: number;
  readonly branches: readonly string[];
  readonly gatePath: string;
  readonly gateFile: string;
}

/** The one file that a pull request changes: good, bad, in conflict with others, in need of another, or the gate itself. */
export function drawChange(
  random: SeededRandom,
  { name, opened, branches, gatePath, gateFile }: ChangeDeps,
): Change {
  const kind = random.int(16);
  const plain = { path: `src/${name}.txt`, content: `${name}\n` };
  if (kind < 2) return { ...plain, content: 'BAD\n' };
  if (kind < 4) return { ...plain, content: `CLASH ${name}\n` };
  if (kind === 4) return { ...plain, path: 'shared.txt' };
  if (kind === 5) return { ...plain, content: 'NEEDS:src/p1.txt\n' };
  if (kind === 6) return { ...plain, content: `NEEDS:src/p${opened + 1}.txt\n` };
  if (kind === 7) {
    const content = 'a\nb\nc\nd\ne\nf\ng\nh\n'.replace(random.pick(['a', 'd', 'h']), name);
    return { path: 'lines.txt', content };
  }
  if (kind === 8) return { ...plain, from: branches[random.int(branches.length)] };
  if (kind === 9) return { path: 'healed', content: 'yes\n' };
  if (kind === 10 && random.chance(0.5)) return { path: gatePath, content: `# ${name}\n${gateFile}` };
  return plain;
}
