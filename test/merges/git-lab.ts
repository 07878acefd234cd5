import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quoteName } from '../../engine-container/src/staging/patch.ts';
import type { CaseTree, MergeCase } from './trees.ts';

/** As every forge version runs it (forge facts, 6.2). */
const FORGE_APPLY = 'git apply --index --recount --cached --ignore-whitespace --whitespace=fix --binary -3';

const GIT_ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  LC_ALL: 'C',
};

/** Real git over a throw-away repository, many cases per process. */
export class GitLab {
  readonly #root = mkdtempSync(join(tmpdir(), 'staging-'));
  readonly #source = join(this.#root, 'source.git');
  readonly #clone = join(this.#root, 'clone.git');

  constructor() {
    this.#git(['init', '-q', '--bare', this.#source]);
  }

  dispose(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  /** Writes three commits per case and, for the patches, a bare clone that shares the objects. */
  importCases(cases: readonly MergeCase[]): void {
    const stream: string[] = [];
    cases.forEach((one, i) => {
      stream.push(renderCommit(`refs/cases/${i}/base`, i * 3 + 1, null, one.base));
      stream.push(renderCommit(`refs/cases/${i}/ours`, i * 3 + 2, i * 3 + 1, one.ours));
      stream.push(renderCommit(`refs/cases/${i}/theirs`, i * 3 + 3, i * 3 + 1, one.theirs));
    });
    this.#git(['--git-dir', this.#source, 'fast-import', '--quiet'], stream.join(''));
    this.#git(['clone', '-q', '--mirror', '-s', this.#source, this.#clone]);
  }

  /** Tree ids of `<case>/<side>` names, in their order. */
  readTreeIds(names: readonly string[]): readonly string[] {
    const input = names.map((name) => `refs/cases/${name}^{tree}\n`).join('');
    return this.#git(['--git-dir', this.#source, 'cat-file', '--batch-check=%(objectname)'], input)
      .trim()
      .split('\n');
  }

  /** Git's own merge of each case: a tree id, `conflict`, or `broken` where it aborts. */
  mergeCases(count: number): readonly string[] {
    return this.#runScript(
      `i=0; while [ $i -lt ${count} ]; do
        out=$(git merge-tree --write-tree --no-messages refs/cases/$i/ours refs/cases/$i/theirs 2>/dev/null)
        case $? in 0) echo "$out";; 1) echo conflict;; *) echo broken;; esac
        i=$((i + 1))
      done`,
    );
  }

  /** Applies one patch per case to `ours` the way the forge does: a tree id, or `conflict`. Null = nothing to apply. */
  applyPatches(patches: readonly (string | null)[]): readonly string[] {
    const directory = join(this.#root, 'patches');
    mkdirSync(directory, { recursive: true });
    patches.forEach((patch, i) => {
      writeFileSync(join(directory, `${i}`), patch ?? '');
    });
    return this.#runScript(
      `i=0; while [ $i -lt ${patches.length} ]; do
        git read-tree refs/cases/$i/ours || exit 1
        if [ ! -s ${directory}/$i ] || ${FORGE_APPLY} < ${directory}/$i >>${this.#root}/log 2>&1
        then git write-tree; else echo conflict; fi
        i=$((i + 1))
      done`,
    );
  }

  #runScript(script: string): readonly string[] {
    const answer = execFileSync('sh', ['-c', script], {
      env: { ...GIT_ENVIRONMENT, GIT_DIR: this.#clone },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return answer.trim().split('\n');
  }

  #git(args: readonly string[], input = ''): string {
    return execFileSync('git', args, { env: GIT_ENVIRONMENT, input, encoding: 'utf8' });
  }
}

function renderCommit(ref: string, mark: number, parent: number | null, tree: CaseTree): string {
  const files = [...tree].map(([path, { mode, content }]) =>
    mode === '160000'
      ? `M ${mode} ${content} ${quoteName(path)}\n`
      : `M ${mode} inline ${quoteName(path)}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
  );
  return [
    `commit ${ref}\nmark :${mark}\ncommitter t <t@t> 1767225600 +0000\ndata 0\n`,
    parent === null ? '' : `from :${parent}\ndeleteall\n`,
    ...files,
    '\n',
  ].join('');
}
