import { readdirSync, readFileSync } from 'node:fs';
import { STATUS_DESCRIPTION_CHARS_MAX } from '#core/domain/limits.ts';
import { codeOfEvent, codeOfPlace, isPullCode, PULL_CODE_NAMES } from '#core/domain/pulls/find-pull-code.ts';
import { TURNS } from '#core/domain/pulls/pull-code-kinds.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';

const DOCS = `${__dirname}/../../../../../docs`;

test('each code has its picture, and no picture is of a code that is gone (`npm run pictures:codes`)', () => {
  const pictures = [...PULL_CODE_NAMES].map((name) => `${name}.png`).sort();
  expect(readdirSync(`${DOCS}/codes`).sort()).toEqual(pictures);
  // The picture shows these words, so that others need a new one.
  const page = readFileSync(`${DOCS}/codes.md`, 'utf8');
  for (const name of PULL_CODE_NAMES)
    expect(page).toContain(`![${PULL_CODES[name].says}](codes/${name}.png)`);
});

describe('the closed list of ways out of the queue and of waits', () => {
  test.each(PULL_CODE_NAMES)('%s has words that fit a status, whose turn it is, and a next step', (name) => {
    const { says, next, turn, is, fault } = PULL_CODES[name];
    expect(says.length).toBeLessThanOrEqual(STATUS_DESCRIPTION_CHARS_MAX);
    expect(says).toMatch(
      /^(queued|staged|proven|landed|waiting|refused|requeued|bounced|paused|not queued): [ -~]+$/,
    );
    expect(next).toMatch(/^[A-Z][ -~]+\.$/);
    expect(TURNS).toContain(turn);
    // Blame means that the author has something to do.
    if (fault) expect(turn).toBe('author');
    if (is === 'exit' && turn === 'none') expect(next).toMatch(/^Nothing/);
  });

  test('a conflict is a fault of the change, whether the queue finds it or the forge', () => {
    expect([PULL_CODES.conflict.fault, PULL_CODES.forge_conflict.fault]).toEqual([true, true]);
  });

  test('where the account that scheduled is gone, and its schedule with it, the step can be done all the same', () => {
    expect(PULL_CODES.scheduler_left.next).toMatch(/Cancel auto merge.*, if it is still there; then let/);
  });

  test('the step of a merge that never came names the right of who scheduled, which Forgejo tells wrongly of a blocked account', () => {
    expect(PULL_CODES.bounced_merge_timeout.next).toContain('whether who scheduled may still merge here');
  });

  test('a pull request from a fork of an author who may not merge here has a step that can be done', () => {
    const { says, next } = PULL_CODES.fork_scheduler;
    // Forgejo 16: 405 for the schedule of such an author; a list of who may merge counts instead of the right in the fork.
    expect(says).toContain('merge list of the branch rule');
    expect(next).toMatch(/Where that person may not merge here, .*list in the branch rule who may merge/);
  });

  test('no words stand for two codes', () => {
    const says = PULL_CODE_NAMES.map((name) => PULL_CODES[name].says);
    expect(new Set(says).size).toBe(says.length);
  });

  test('the contract lists exactly these, with these words', () => {
    const contract = readFileSync('docs/contract.md', 'utf8');
    const cells = contract
      .split('\n')
      .filter((line) => /^\| `[a-z0-9_]+` +\| (wait|exit) /.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(cells.map(([, name, is, turn, fault, says, next]) => [name, is, turn, fault, says, next])).toEqual(
      PULL_CODE_NAMES.map((name) => {
        const { is, turn, fault, says, next } = PULL_CODES[name];
        return [`\`${name}\``, is, turn, fault ? 'yes' : 'no', says, next];
      }),
    );
  });

  test('an event has one code: a time-out of a merge is a wait at first, and then a way out', () => {
    expect(codeOfEvent('pr_requeued', 'merge_timeout')).toBe('merge_timeout');
    expect(codeOfEvent('pr_bounced', 'merge_timeout')).toBe('bounced_merge_timeout');
    expect(codeOfEvent('pr_bounced', 'gate_failed')).toBe('gate_failed');
    expect(codeOfEvent('pr_landed', null)).toBe('landed');
    expect(codeOfEvent('pr_skipped', 'draft')).toBe('draft');
    expect(codeOfEvent('pr_skipped', 'of a newer service')).toBeNull();
  });

  test('a place has the code of its reason, or of its state', () => {
    expect(codeOfPlace('waiting', 'conflict')).toBe('conflict');
    expect(codeOfPlace('landing', null)).toBe('landing');
    expect(codeOfPlace('bounced', 'bounced')).toBe('bounced');
    expect(isPullCode('toString')).toBe(false);
  });
});

test('a step says where to look by the name of the place: page, notice and command line show it each in another one', () => {
  const steps = Object.entries(PULL_CODES).filter(([, { next }]) =>
    /\b(below|above|beside this)\b/.test(next),
  );
  expect(steps.map(([code]) => code)).toEqual([]);
});
