import { checkClaim, UNFOUNDED } from '#core/services/repos/verify-claim.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';

test('a claim on a repository whose name another one has by now gives way, as one that was renamed', async () => {
  const { check } = await checkClaim(async () => ({ kind: 'replaced' }), givenRepo());
  expect(check).toBe('renamed');
  expect(UNFOUNDED).toContain(check);
});
