/** Why the forge refuses the queue as a whole, as far as its answer tells: words of the page and the API. */
export const REFUSAL_CAUSES = {
  archived: {
    says: 'The repository is archived on the forge, so nothing can be staged in it',
    next: 'Take the repository out of the archive there, or switch its queue off.',
  },
  over_quota: {
    says: 'The owner of the repository is over a quota of the forge, so nothing can be staged in it',
    next: 'Free space of that account on the forge, or have an administrator of the forge raise its quota.',
  },
  moved: {
    says: 'The repository has another name or owner on the forge now',
    next: 'Give the bot access to the repository there, add it here under its new name with "Add repositories", and press "Remove from the queue" in the settings of the old one.',
  },
  replaced: {
    says: 'Another repository has the name of this one on the forge now',
    next: 'Add the repository under its new name with "Add repositories", and press "Remove from the queue" in the settings of this one. If it was deleted and made anew on the forge, do that first, and then add it again.',
  },
  pulls_hidden: {
    says: 'The forge shows the branches of this repository and none of its pull requests',
    next: 'Check on the forge that pull requests are switched on, and that the bot may read them. A mirror takes none, and neither does a repository without a commit.',
  },
  actions_hidden: {
    says: 'The forge does not let the bot read the runs of Actions in this repository',
    next: 'Give the team of the bot the right to read Actions there, or make the bot a collaborator of the repository.',
  },
  not_shown: {
    says: 'The forge shows the bot no such repository',
    next: 'Give the bot access to the repository again, there too where it was moved to another owner; a token for public repositories alone shows no others, and a Gitea that demands two-factor authentication none to an account without it. If the repository was deleted on the forge, press "Remove from the queue" in its settings here too.',
  },
  token_unknown: {
    says: 'The forge does not accept the stored token: it has expired or was revoked',
    next: 'Store a new token on the page Connections.',
  },
  bot_locked: {
    says: 'The forge lets the account of the bot do nothing: it is locked, or has to change its password or to set up two-factor authentication first',
    next: 'Sign in on the forge as the bot and do what the forge asks for, or have an administrator of the forge unlock it. The stored token works again then.',
  },
} as const;
export type RefusalCause = keyof typeof REFUSAL_CAUSES;
export const REFUSAL_CAUSE_NAMES = Object.keys(REFUSAL_CAUSES) as readonly RefusalCause[];

/** "The repository is archived on the forge, so …. Take the repository out of the archive there, …." */
export function describeRefusalCause(cause: RefusalCause): string {
  const { says, next } = REFUSAL_CAUSES[cause];
  return `${says}. ${next}`;
}
