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

  test('leaves a string whole that begins as it was told', () => {
    const data = JSON.stringify({ ids: Array.from({ length: 50 }, (_, nth) => `${nth}`) });
    const text = JSON.stringify([data, `-${data}`]);
    expect(JSON.parse(cut(text, 5, { ...CUT, wholeFrom: '{' }))).toEqual([data, '-{"ids"']);
  });
});
