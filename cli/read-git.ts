import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { promisify } from 'node:util';
import type { Machine } from './context.ts';

/**
 * Options and environment without which git tells what the clone says of its objects, and not what they say: a replaced
 * object has the name of another one, and the graph and the grafts name parents that a commit does not have.
 */
const PLAINLY = ['--no-replace-objects', '-c', 'core.commitGraph=false'];
const NO_GRAFTS = { GIT_GRAFT_FILE: devNull };

/** Runs git in a folder, which has to be that of a clone for most commands. */
export const gitReader =
  (folder: string, env: Machine['env']): Machine['readGit'] =>
  (args) =>
    promisify(execFile)('git', [...PLAINLY, ...args], { cwd: folder, env: { ...env, ...NO_GRAFTS } }).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    );
