/** The first word of each status of a pause: by it the words are found again when the pause is over. */
export const PAUSED_PREFIX = 'paused: ';

/** The words of a hold that the forge makes. */
export const ARCHIVED = `${PAUSED_PREFIX}the repository is archived on the forge; it keeps its place until it is taken out of the archive`;
