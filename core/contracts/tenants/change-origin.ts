import { AsyncLocalStorage } from 'node:async_hooks';
import type { TenantId } from '../../domain/ids.ts';

/** The session or the API token behind what is done now. */
export interface ChangeOrigin {
  readonly tenantId: TenantId;
  /** Id of the user, the name of one of several people of the tenant, or `token:` with the id of an API token. */
  readonly person: string;
  /** An IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string;
}

const origins = new AsyncLocalStorage<ChangeOrigin>();

/** All that `run` starts has this origin, however deep it is called. */
export const withOrigin = <T>(origin: ChangeOrigin, run: () => T): T => origins.run(origin, run);

/** Null: no request of a caller is behind it. */
export const currentOrigin = (): ChangeOrigin | null => origins.getStore() ?? null;
