/** Reads a second for a forge host that has asked for fewer, or was away; doubled each minute without a complaint. */
export const FORGE_PACE_START_PER_SECOND = 5;
export const FORGE_PACE_RAISE_MS = 60_000;
/** A host that takes so many has no ceiling any more. */
export const FORGE_PACE_UNBOUND_PER_SECOND = 100;
/** A read waits at most so long for its turn; the repository is looked at again later. */
export const FORGE_PACE_WAIT_MS_MAX = 5_000;
/** A host that complains without saying for how long is left alone for this. */
export const FORGE_QUIET_MS = 10_000;
/** A credential that asked within this time counts among those that ask; as long as the longest `Retry-After` that is kept. */
export const FORGE_PACE_ASKING_MS = 15 * 60_000;
/** Credentials of one host, and hosts, whose rate one process remembers. */
export const FORGE_PACE_CREDENTIALS_MAX = 1_000;
export const FORGE_PACE_HOSTS_MAX = 1_000;
