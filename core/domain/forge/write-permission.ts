/** The unit of a team's rights that is about the code of a repository; the others are about issues, packages and so on. */
export const CODE_UNIT = 'repo.code';

/** Permissions, as forges name them, with which an account, a team or a unit of a team may write. */
export const WRITING_PERMISSIONS: readonly string[] = ['write', 'admin', 'owner'];
