import type { TimelineEntry } from '#core/domain/forge/forge.ts';
import { readSchedule } from '../../../../../engine-container/src/queue/admission/eligibility.ts';

const HEAD = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const PULL = { headSha: HEAD, baseRef: 'main' };

function timeline(
  ...entries: readonly (readonly [TimelineEntry['kind'], number, string?])[]
): TimelineEntry[] {
  return entries.map(([kind, seconds, newHead], index) => ({
    id: index + 1,
    kind,
    at: seconds * 1000,
    user: 'dev',
    newHead: newHead ?? null,
  }));
}

describe('scheduled for auto-merge on its exact head (D-03, A30)', () => {
  test.each([
    ['nothing happened', timeline(), 'none'],
    ['only other entries', timeline(['other', 1], ['pushed', 2, HEAD]), 'none'],
    ['scheduled', timeline(['scheduled', 10]), 'bound'],
    ['pushed, then scheduled', timeline(['pushed', 5, HEAD], ['scheduled', 10]), 'bound'],
    ['scheduled, then cancelled', timeline(['scheduled', 10], ['cancelled', 20]), 'none'],
    [
      'cancelled, then scheduled again',
      timeline(['scheduled', 10], ['cancelled', 20], ['scheduled', 30]),
      'bound',
    ],
    [
      'scheduled twice without a cancel, as the web page does',
      timeline(['scheduled', 10], ['scheduled', 30]),
      'bound',
    ],
    ['pushed long after', timeline(['scheduled', 10], ['pushed', 300, HEAD]), 'moved'],
    ['the push entry is written late', timeline(['scheduled', 10], ['pushed', 13, HEAD]), 'bound'],
    [
      'a late entry for another commit than the head',
      timeline(['scheduled', 10], ['pushed', 13, OTHER]),
      'moved',
    ],
    ['a late entry whose commit cannot be read', timeline(['scheduled', 10], ['pushed', 13]), 'moved'],
    ['two pushes at once', timeline(['scheduled', 10], ['pushed', 12, OTHER], ['pushed', 13, HEAD]), 'moved'],
    [
      'pushed after, then scheduled again',
      timeline(['scheduled', 10], ['pushed', 99, HEAD], ['scheduled', 120]),
      'bound',
    ],
  ] as const)('%s', (_name, entries, kind) => {
    expect(readSchedule(entries, PULL).kind).toBe(kind);
  });

  test.each([
    ['from another branch to this one', ['docs'], 'moved'],
    ['to another branch and back', ['main', 'docs'], 'bound'],
    ['by two steps to this one', ['docs', 'next'], 'moved'],
    ['and the forge does not say from where', [undefined], 'moved'],
  ] as const)('its target was changed after its schedule, %s', (_name, before, kind) => {
    const retargets = before.map((baseBefore, index) => ({
      ...timeline(['retargeted', 20])[0],
      id: 10 + index,
      ...(baseBefore === undefined ? {} : { baseBefore }),
    })) as TimelineEntry[];
    const [scheduled] = timeline(['scheduled', 10]) as [TimelineEntry];
    expect(readSchedule([scheduled, ...retargets], PULL).kind).toBe(kind);
    const pushedSince = timeline(['other', 1], ['pushed', 30, HEAD]).slice(1);
    expect(readSchedule([scheduled, ...retargets, ...pushedSince], PULL).kind).toBe('moved');
    expect(readSchedule([...retargets, scheduled], PULL).kind).toBe('bound');
  });

  test('a push entry that comes with a change of the target, in the name of who made it, stands for no head', () => {
    const back = (by: string, seconds: number): TimelineEntry[] => [
      ...timeline(['scheduled', 10]),
      { ...(timeline(['retargeted', 20])[0] as TimelineEntry), id: 10, baseBefore: 'main' },
      { ...(timeline(['retargeted', 40])[0] as TimelineEntry), id: 12, baseBefore: 'docs' },
      { ...(timeline(['pushed', seconds, HEAD])[0] as TimelineEntry), id: 13, user: by },
    ];
    expect(readSchedule(back('dev', 41), PULL)).toEqual({
      kind: 'bound',
      id: 1,
      at: 10_000,
      by: 'dev',
      isReopened: true,
    });
    const later = { ...PULL, headSha: 'pushed since' };
    expect(readSchedule(back('dev', 41), later)).toEqual({ kind: 'moved', id: 1, at: 10_000, by: 'dev' });
    expect(readSchedule(back('other', 41), PULL)).toMatchObject({ kind: 'moved', push: { by: 'other' } });
    expect(readSchedule(back('dev', 60), PULL)).toMatchObject({ kind: 'moved', push: { by: 'dev' } });
  });

  test('reopened after its schedule: a push while it was closed has no entry, so that the head may be another one', () => {
    const reopened = readSchedule(timeline(['scheduled', 10], ['reopened', 30]), PULL);
    expect(reopened).toMatchObject({ kind: 'bound', isReopened: true });
    const scheduledLater = readSchedule(timeline(['reopened', 5], ['scheduled', 10]), PULL);
    expect(scheduledLater).not.toHaveProperty('isReopened');
    const entries = timeline(['pushed', 5, HEAD], ['scheduled', 10], ['reopened', 30]);
    expect(readSchedule(entries, PULL)).toMatchObject({ kind: 'bound', isPushedBefore: true });
    expect(readSchedule(entries, PULL)).not.toHaveProperty('isReopened');
  });

  test('the schedule that counts is the last one', () => {
    expect(readSchedule(timeline(['scheduled', 10], ['scheduled', 30]), PULL)).toEqual({
      kind: 'bound',
      id: 2,
      at: 30_000,
      by: 'dev',
    });
  });
});
