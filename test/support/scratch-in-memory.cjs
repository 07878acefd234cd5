const { spawnSync } = require('node:child_process');
const {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/** Linux keeps it in memory. Elsewhere, and where it is small or runs no programs, scratch files stay on the disk. */
const MEMORY_DIR = '/dev/shm';
const PREFIX = 'mergeyard-test-';
const RUN_PREFIX = 'mergeyard-run-';
/** Repositories, tables and bundles of two test files at once, many times over. */
const FREE_BYTES_MIN = 2 ** 30;

/**
 * The forge on real git makes tens of thousands of small files and folders, each of which may cost a disk milliseconds:
 * that was half of the time of its tests. Workers and the programs they start take `TMPDIR` from here.
 */
module.exports = async () => {
  const scratch = process.env.TMPDIR === undefined ? makeScratch() : null;
  if (scratch !== null) process.env.TMPDIR = scratch;
  // Shared by all test files of this run.
  const shared = mkdtempSync(join(tmpdir(), RUN_PREFIX));
  process.env.TEST_RUN_DIR = shared;
  process.on('exit', () => {
    for (const folder of [shared, scratch])
      if (folder !== null) rmSync(folder, { recursive: true, force: true });
  });
};

function makeScratch() {
  if (!isRoomy()) return null;
  const scratch = mkdtempSync(join(MEMORY_DIR, `${PREFIX}${process.pid}-`));
  // Readable as the system's own: some programs run here without the rights of a user.
  chmodSync(scratch, 0o755);
  const probe = join(scratch, 'probe');
  writeFileSync(probe, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  // Hooks of repositories are programs, and containers mount this without leave to run any.
  if (spawnSync(probe).status === 0) return scratch;
  rmSync(scratch, { recursive: true, force: true });
  return null;
}

function isRoomy() {
  try {
    accessSync(MEMORY_DIR, constants.W_OK);
  } catch {
    return false;
  }
  sweep();
  const { bavail, bsize } = statfsSync(MEMORY_DIR);
  return bavail * bsize >= FREE_BYTES_MIN;
}

/** Memory of runs that were killed. */
function sweep() {
  for (const name of readdirSync(MEMORY_DIR)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (Number.isNaN(pid)) continue;
    try {
      process.kill(pid, 0);
    } catch (error) {
      if (error.code === 'ESRCH') rmSync(join(MEMORY_DIR, name), { recursive: true, force: true });
    }
  }
}
