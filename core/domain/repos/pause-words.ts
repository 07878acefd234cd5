/** The first word of each status of a pause: by it the words are found again when the pause is over. */
export const PAUSED_PREFIX = 'paused: ';

/** The words of a hold that the forge makes. */
export const ARCHIVED = `${PAUSED_PREFIX}the repository is archived on the forge; this pull request keeps its place until the repository leaves the archive`;
