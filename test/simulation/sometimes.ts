/** What must happen in some life of a large run: a trouble that never comes proves nothing about its guard. */
export const SOMETIMES: readonly string[] = [];
