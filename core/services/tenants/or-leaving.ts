import { AppError } from '../../contracts/errors.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import { StoreError } from '../../ports/store.ts';

/** The answer to something new for a tenant that is being deleted. */
export const leavingError = (): AppError =>
  new AppError('queue_locked', {
    message: 'This account is being deleted. Once everything of it is gone, it can be used again.',
  });

/**
 * Names the refusal of something new. The store takes nothing more of a tenant that is being deleted, which may last for an hour;
 * otherwise other calls of the tenant were first too often.
 */
export async function orLeaving<T>(
  store: Pick<AccountStore, 'loadTenant'>,
  tenantId: TenantId,
  stored: Promise<T>,
): Promise<T> {
  try {
    return await stored;
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'lost_race') throw error;
    const tenant = await store.loadTenant(tenantId);
    if (tenant?.deleting === false) throw new AppError('queue_locked');
    throw leavingError();
  }
}
