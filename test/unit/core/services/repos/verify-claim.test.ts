import { checkClaim, UNFOUNDED } from '#core/services/repos/verify-claim.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';

test.each(['replaced', 'moved'] as const)(
  'a claim on a repository that is %s gives way, as one that was renamed',
  async (kind) => {
    const { check } = await checkClaim(async () => ({ kind }), givenRepo());
    expect(check).toBe('renamed');
    expect(UNFOUNDED).toContain(check);
  },
);
