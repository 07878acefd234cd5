import { answerCut } from '#core/adapters/forge-http/wire/answer-limits.ts';
import { type StringCut, StringCutter } from '#core/adapters/http-guard/cut-strings.ts';

const CUT: StringCut = { keepBytes: 8, sentBytesMax: 1_000_000 };

/** The text as it is kept when it arrives in pieces of one size. */
function cut(text: string, pieceBytes: number, options: StringCut = CUT): string {
  const cutter = new StringCutter(options);
  const sent = Buffer.from(text);
  const kept: Buffer[] = [];
  for (let at = 0; at < sent.length; at += pieceBytes)
    kept.push(...cutter.push(sent.subarray(at, at + pieceBytes)));
  return Buffer.concat(kept).toString('utf8');
}

describe('the cutter of long strings', () => {
  test.each([1, 2, 3, 7, 1000])('keeps everything else of the text, in pieces of %i bytes', (pieceBytes) => {
    const value = {
      number: 12,
      title: 'short',
      body: 'x'.repeat(500),
      'a key that is long': [true, null, 1.5, 'y'.repeat(9), { z: '' }],
      last: 'end',
    };
    expect(JSON.parse(cut(JSON.stringify(value), pieceBytes))).toEqual({
      number: 12,
      title: 'short',
      body: 'xxxxxxxx',
      'a key th': [true, null, 1.5, 'yyyyyyyy', { z: '' }],
      last: 'end',
    });
  });

  test.each([
    ['quotes', '"'.repeat(40)],
    ['backslashes', '\\'.repeat(41)],
    ['line ends', `1234567${'\r\n'.repeat(20)}`],
    ['escaped letters', '\u0001'.repeat(30)],
    ['letters of three bytes', 'ab€€€€€€€€'],
    ['letters of four bytes', 'abc🚂🚂🚂🚂🚂'],
  ])('tears no %s', (_what, text) => {
    for (let pieceBytes = 1; pieceBytes < 12; pieceBytes += 1) {
      const [kept, behind] = JSON.parse(cut(JSON.stringify([text, 'behind']), pieceBytes)) as string[];
      expect(text.startsWith(kept ?? '-')).toBe(true);
      expect(kept?.length).toBeLessThan(text.length);
      expect(behind).toBe('behind');
    }
  });

  test('leaves a string whole that begins as it was told, up to a limit of its own', () => {
    const ids = (count: number) =>
      JSON.stringify({ ids: Array.from({ length: count }, (_, nth) => `${nth}`) });
    const text = JSON.stringify([ids(50), `-${ids(50)}`, ids(500)]);
    const [kept, other, long] = JSON.parse(cut(text, 5, { ...CUT, whole: { from: '{', bytesMax: 600 } }));
    expect([kept, other]).toEqual([ids(50), '-{"ids"']);
    expect(ids(500).startsWith(long)).toBe(true);
    // An escape that the limit falls into is kept whole, and so are both quotes.
    expect(JSON.stringify(long).length).toBeGreaterThanOrEqual(602);
    expect(JSON.stringify(long).length).toBeLessThan(610);
  });

  test('lets no comment fill a timeline, and keeps the ids of a push', () => {
    const options = answerCut('GET issues/{n}/timeline');
    if (options === undefined) throw new Error('a timeline is cut');
    const push = JSON.stringify({ is_force_push: false, commit_ids: Array(2_000).fill('a'.repeat(40)) });
    const comment = `{"is_force_push":false,"commit_ids":["${'a'.repeat(9_000_000)}`;
    const kept = cut(JSON.stringify([push, comment]), 65_536, options);
    expect((JSON.parse(kept) as string[])[0]).toBe(push);
    expect(kept.length).toBeLessThan(400_000);
  });
});
