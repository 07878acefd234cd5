import { findDeafBits } from '../../support/signed-landing.ts';

test('any one changed bit of the envelope, and it is not verified', async () => {
  expect(await findDeafBits(1)).toEqual([]);
}, 600_000);
