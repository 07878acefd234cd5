import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import { readWholeTimeline } from '#core/adapters/forge-http/timeline.ts';
import { AnswerTooLarge, ListingTooLong } from '#core/ports/forge.ts';
import { openScripted } from '../../../../support/open-scripted.ts';
import { type ScriptedAnswer, type SeenRequest, sha } from '../../../../support/scripted-forge.ts';

function open(respond: (request: SeenRequest, nth: number) => ScriptedAnswer | 'too_large') {
  const { transport, seen } = openScripted(respond);
  return { forge: createForgeReader(transport), transport, seen };
}

interface Entry {
  readonly id: number;
  readonly type?: string;
  /** Seconds. */
  readonly at: number;
  readonly editedAt?: number;
  /** The bot may not read it. */
  readonly isHidden?: boolean;
}

const T0 = Date.parse('2026-01-01T00:00:00Z');
const timeOf = (second: number) => new Date(T0 + second * 1_000).toISOString();
const changedAt = (second: number) => T0 + second * 1_000;
const comments = (first: number, last: number, more: Partial<Entry> = {}): readonly Entry[] =>
  Array.from({ length: last - first + 1 }, (_, nth) => ({ id: first + nth, at: first + nth, ...more }));
const schedule = (id: number): Entry => ({ id, at: id, type: 'pull_scheduled_merge' });
const push = (id: number, at = id): Entry => ({ id, at, type: 'pull_push' });

/** As Gitea does it from 1.26 on: it chooses by the time of the last edit, sorts by that of writing, cuts, and hides after that. */
function answerAsGitea(
  entries: readonly Entry[],
  before: (nth: number, rows: Entry[]) => void = () => undefined,
) {
  const rows = [...entries];
  return ({ query }: SeenRequest, nth: number): ScriptedAnswer => {
    before(nth, rows);
    const since = query.since === undefined ? 0 : (Date.parse(query.since) - T0) / 1_000;
    const page = Number(query.page ?? 1);
    const limit = Number(query.limit);
    const json = rows
      .filter(({ at, editedAt = at }) => editedAt >= since)
      .sort((one, other) => one.at - other.at || one.id - other.id)
      .slice((page - 1) * limit, page * limit)
      .filter(({ isHidden }) => isHidden !== true)
      .map(({ id, type = 'comment', at }) => ({
        id,
        type,
        body: '',
        created_at: timeOf(at),
        user: { login: 'dev' },
      }));
    return { json };
  };
}

const openGitea = (...given: Parameters<typeof answerAsGitea>) => open(answerAsGitea(...given));

describe('timeline', () => {
  test.each<[string, readonly Entry[], number, number]>([
    ['on the second page', [...comments(1, 50), push(51)], 51, 2],
    ['on the third page', [...comments(1, 99), push(100)], 100, 3],
    [
      'behind what the bot may not read',
      [schedule(1), ...comments(2, 50), ...comments(51, 239, { isHidden: true }), push(240)],
      240,
      9,
    ],
    [
      'on a page that is not full',
      [...comments(1, 10), ...comments(11, 50, { isHidden: true }), push(51)],
      51,
      2,
    ],
    ['on the page after one that ends in the same second', [...comments(1, 50), push(51, 50)], 50, 2],
    [
      'behind more entries of one second than a page holds',
      [...comments(1, 120, { at: 7 }), push(121, 7)],
      7,
      7,
    ],
    ['behind comments that were edited since', [...comments(1, 80, { editedAt: 90 }), push(91)], 91, 7],
  ])('is read to the entry of its last change: %s', async (_where, entries, second, calls) => {
    const { forge, seen } = openGitea(entries);
    const part = await forge.readTimeline(4, { changedAt: changedAt(second) });
    expect(part.entries.at(-1)).toMatchObject({ kind: 'pushed' });
    expect(part.readTo).toBeNull();
    expect(seen).toHaveLength(calls);
  });

  test.each<[string, readonly Entry[], number]>([
    ['between two answers', [...comments(1, 50), push(51), ...comments(52, 60)], 60],
    [
      'between two pages of one second',
      [...comments(1, 50, { at: 7 }), push(51, 7), ...comments(52, 60, { at: 7 })],
      7,
    ],
  ])('an entry is not lost when a comment before it is deleted %s', async (_where, entries, second) => {
    // The second call, and the one that asks for the second page.
    for (const at of [2, 3]) {
      const { forge } = openGitea(entries, (nth, rows) => {
        if (nth === at) rows.splice(0, 1);
      });
      const part = await forge.readTimeline(4, { changedAt: changedAt(second) });
      expect(part.entries).toContainEqual(expect.objectContaining({ kind: 'pushed' }));
    }
  });

  test.each<[string, readonly Entry[], boolean, number]>([
    ['three answers without an entry', comments(1, 50), false, 4],
    ['ten of them where a schedule stands', [schedule(1), ...comments(2, 50)], false, 11],
    ['the first answer of a version that gives all', [schedule(1), ...comments(2, 50)], true, 1],
  ])('ends, where its last change left no entry, after %s', async (_what, entries, givesAll, calls) => {
    const edited = openGitea(entries);
    const part = await edited.forge.readTimeline(4, { changedAt: changedAt(3_600), givesAll });
    expect(part).toMatchObject({ entries: { length: 50 }, readTo: null });
    expect(edited.seen).toHaveLength(calls);
  });

  test('ends where more than a page is given for all', async () => {
    const json = comments(1, 51).map(({ id, at }) => ({
      id,
      type: 'comment',
      body: '',
      created_at: timeOf(at),
      user: { login: 'dev' },
    }));
    const whole = open(() => ({ json }));
    expect((await whole.forge.readTimeline(4, { changedAt: changedAt(3_600) })).entries).toHaveLength(51);
    expect(whole.seen).toHaveLength(1);
  });

  test('of thousands is read in parts, each from where the one before ended', async () => {
    const entries = [...comments(1, 2_500), push(2_501)];
    const { forge, seen, transport } = openGitea(entries);
    const first = await forge.readTimeline(4, { changedAt: changedAt(2_501) });
    expect(seen).toHaveLength(20);
    expect(first).toMatchObject({ readTo: changedAt(first.entries.length) });
    const rest = await forge.readTimeline(4, { changedAt: changedAt(2_501), since: first.readTo ?? 0 });
    expect(rest).toMatchObject({ readTo: null });
    expect(new Set([...first.entries, ...rest.entries].map(({ id }) => id)).size).toBe(2_501);
    expect(new Set((await readWholeTimeline(transport, 4)).map(({ id }) => id)).size).toBe(2_501);
  });

  test('that leads no further is too long', async () => {
    const { transport } = openGitea(comments(1, 12_000, { at: 7 }));
    await expect(readWholeTimeline(transport, 4)).rejects.toThrow(ListingTooLong);
  });

  test('of an answer that is too large is read in smaller ones', async () => {
    const entries = [...comments(1, 60), push(61)];
    const bytesOf = ({ query }: SeenRequest) => (query.page === undefined ? 60 : Number(query.limit));
    const answer = answerAsGitea(entries);
    const { forge, seen } = open((request, nth) =>
      bytesOf(request) > 13 ? 'too_large' : answer(request, nth),
    );
    const part = await forge.readTimeline(4, { changedAt: changedAt(61) });
    expect(part.entries).toHaveLength(61);
    expect(seen.map(({ query }) => [query.page, query.limit]).slice(0, 4)).toEqual([
      [undefined, '50'],
      ['1', '50'],
      ['1', '25'],
      ['1', '13'],
    ]);
    // Of more values than are parsed.
    const values = open((request, nth) =>
      request.query.page === undefined ? { json: { of: 'no list' } } : answer(request, nth),
    );
    expect(
      (await values.forge.readTimeline(4, { changedAt: changedAt(61), givesAll: true })).entries,
    ).toHaveLength(61);
    const never = open(() => 'too_large');
    await expect(never.forge.readTimeline(4)).rejects.toThrow(AnswerTooLarge);
  });

  test('in the order of writing, also where the clock of the forge was put back in between', async () => {
    const entry = (id: number, type: string, second: number) => ({
      id,
      type,
      created_at: `2026-01-01T00:00:0${second}Z`,
      user: { login: 'dev' },
    });
    const { forge } = open(() => ({ json: [entry(3, 'pull_push', 2), entry(2, 'pull_scheduled_merge', 8)] }));
    const { entries } = await forge.readTimeline(4);
    expect(entries.map(({ kind }) => kind)).toEqual(['scheduled', 'pushed']);
  });

  const row = (id: number, type: string, body = '', user: unknown = { login: 'dev' }) => ({
    id,
    type,
    body,
    user,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    ref_commit_sha: '',
  });

  test('kinds, users and the newest commit of a push', async () => {
    const push = (ids: readonly string[], force: boolean) =>
      JSON.stringify({ is_force_push: force, commit_ids: ids });
    const { forge, seen } = open(() => ({
      json: [
        row(1, 'pull_scheduled_merge'),
        null,
        row(2, 'pull_push', push([sha(1), sha(2)], false)),
        row(3, 'pull_push', push([sha(2), sha(3)], true)),
        row(4, 'pull_cancel_scheduled_merge'),
        row(5, 'change_title', '', null),
        row(6, 'pull_push', 'not json'),
        row(7, 'pull_push', '{"commit_ids":[]}'),
        row(8, 'pull_push', 'null'),
      ],
    }));
    const { entries } = await forge.readTimeline(4);
    expect(entries.map((entry) => [entry.id, entry.kind, entry.user, entry.newHead])).toEqual([
      [1, 'scheduled', 'dev', null],
      [2, 'pushed', 'dev', sha(2)],
      [3, 'pushed', 'dev', sha(3)],
      [4, 'cancelled', 'dev', null],
      [5, 'other', '', null],
      [6, 'pushed', 'dev', null],
      [7, 'pushed', 'dev', null],
      [8, 'pushed', 'dev', null],
    ]);
    expect(entries[0]?.at).toBe(Date.UTC(2026, 0, 1));
    // With `page`, the forge would cut first and filter afterwards.
    expect(seen[0]).toMatchObject({ path: '/issues/4/timeline', query: {} });
  });

  test('null is the empty one', async () => {
    const { forge } = open(() => ({ json: null }));
    expect(await forge.readTimeline(4)).toEqual({ entries: [], readTo: null });
  });
});
