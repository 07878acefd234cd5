import type { TimelineEntry } from '#core/domain/forge.ts';
import { readSchedule } from '../../../../engine-container/src/queue/admission/eligibility.ts';

const HEAD = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

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
    expect(readSchedule(entries, HEAD).kind).toBe(kind);
  });

  test('reopened after its schedule: a push while it was closed has no entry, so that the head may be another one', () => {
    const reopened = readSchedule(timeline(['scheduled', 10], ['reopened', 30]), HEAD);
    expect(reopened).toMatchObject({ kind: 'bound', isReopened: true });
    const scheduledLater = readSchedule(timeline(['reopened', 5], ['scheduled', 10]), HEAD);
    expect(scheduledLater).not.toHaveProperty('isReopened');
    const entries = timeline(['pushed', 5, HEAD], ['scheduled', 10], ['reopened', 30]);
    expect(readSchedule(entries, HEAD)).toMatchObject({ kind: 'bound', isPushedBefore: true });
    expect(readSchedule(entries, HEAD)).not.toHaveProperty('isReopened');
  });

  test('the schedule that counts is the last one', () => {
    expect(readSchedule(timeline(['scheduled', 10], ['scheduled', 30]), HEAD)).toEqual({
      kind: 'bound',
      id: 2,
      at: 30_000,
      by: 'dev',
    });
  });
});
