/** The clocks of two machines of one installation differ by less. A stored time further ahead is of a clock that was set back. */
export const CLOCKS_DIFFER_MS_MAX = 60_000;
