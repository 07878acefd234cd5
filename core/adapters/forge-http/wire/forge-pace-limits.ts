/** Reads a second for a forge host that has asked for fewer, or was away; doubled each minute without a complaint. */
export const FORGE_PACE_START_PER_SECOND = 5;
export const FORGE_PACE_RAISE_MS = 60_000;
/** Reads a second from which on a host has no ceiling any more. */
export const FORGE_PACE_UNBOUND_PER_SECOND = 100;
/** Longest wait of a read for its turn; after it the repository is looked at again later. */
export const FORGE_PACE_WAIT_MS_MAX = 5_000;
/** How long a host is left alone that complains and does not say for how long. */
export const FORGE_QUIET_MS = 10_000;
/**
 * A credential counts among those that ask for this long after its last read; as long as the longest `Retry-After` that
 * is obeyed.
 */
export const FORGE_PACE_ASKING_MS = 15 * 60_000;
/**
 * Bytes of answers, as they were sent, that one repository costs the process at once, and in each second after that. A
 * mebibyte takes some milliseconds of the thread that serves all tenants. An honest look has some 100 KB; one at a
 * repository with a description that no answer holds has 96 MiB.
 */
export const FORGE_PACE_BYTES_AT_ONCE = 96 * 1024 * 1024;
export const FORGE_PACE_BYTES_PER_SECOND = 8 * 1024 * 1024;
/** Credentials and repositories of one host, and hosts, whose rate one process remembers. */
export const FORGE_PACE_CREDENTIALS_MAX = 1_000;
export const FORGE_PACE_REPOS_MAX = 1_000;
export const FORGE_PACE_HOSTS_MAX = 1_000;
