import fc from 'fast-check';
import { tryCompileGlob } from '../../../local/forge/globs.ts';
import { matchGlob } from '../../support/match-glob.ts';

/** Two readings, each written for itself: one by regular expressions of this language, one without any. */
test.each(['gobwas', 'gitea'] as const)('the fake forge reads patterns as the queue does: %s', (reader) => {
  const piece = fc.constantFrom(...'ab-*?[]{},!^/1|.'.split(''), '[a-', '[!', '\\-', '**');
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.stringMatching(/^[ab1/^-]{0,5}$/),
      fc.boolean(),
      (pieces, text, isBranch) => {
        const pattern = pieces.join('');
        // Where a class begins with its end, Go goes on into what the star after it was written as; the fake does not.
        fc.pre(!/\[[!^]?\]/.test(pattern));
        const glob = tryCompileGlob(pattern, { separator: isBranch, reader });
        const expected = matchGlob(pattern, text, isBranch ? '/' : null, reader);
        expect(glob === null ? null : glob.test(text)).toBe(expected);
      },
    ),
    { numRuns: 5000 },
  );
});
