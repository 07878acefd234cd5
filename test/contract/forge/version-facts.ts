import type { ForgeVersion } from '#core/domain/forge/forge-version.ts';
import type { ProfileName } from '../../../local/forge/profiles.ts';

/** Answers to one call that differ by version, as seen on running forges (docs/forge-facts.md). */
export interface VersionFacts {
  /** To a call under a name that the repository had before. */
  readonly formerNameStatus: 301 | 307;
  /** Such a call is 404 to an account that may not see the repository under its new name. */
  readonly hidesFormerNames: boolean;
  /** To a hook whose address is none. */
  readonly hookWithoutAddressStatus: 201 | 422;
  /** An edit of a hook, which resets its events, leaves that of statuses as it was. */
  readonly editKeepsStatusEvent: boolean;
  /** To a pull request from a branch that is not there. */
  readonly absentHeadStatus: 404 | 500;
  /** To a list of commits from one on that is not there. */
  readonly absentTipStatus: 404 | 500;
  /** To a status on a commit that is not there. */
  readonly unknownCommitStatus: 404 | 500;
  /** To a patch that makes a branch which a rule covers. */
  readonly ruledPatchStatus: 403 | 500;
  /** To contents that are to replace another blob than the one that is there. */
  readonly otherBlobStatus: 409 | 422;
  /** What becomes of a pull request whose target branch is deleted: it targets the default branch, or is closed. */
  readonly sendsToDefaultBranch: boolean;
  /** A pull request that was closed because its branch went can be opened again without one. False: refused, or not tried. */
  readonly reopensWithoutBranch: boolean;
  /** A change of the target deletes the entries of all pushes, and writes one with the present head. */
  readonly retargetRestatesPush: boolean;
  /** A success that is posted while the forge checks the head for conflicts sets off no merge. */
  readonly losesSuccessInCheck: boolean;
  /** A merge is made on a tag of the base's name. */
  readonly mergesIntoTag: boolean;
  /** What Actions posts for a job that its condition leaves out. */
  readonly stateOfSkippedJob: 'success' | 'skipped';
  /** Its words for such a job. */
  readonly wordsOfSkippedJob: 'Has been skipped' | 'Skipped';
  /** The context of a job whose workflow has no name begins with that of its file. */
  readonly namesJobsByFile: boolean;
  /** The list of runs tells the open pull requests of the branch of a run. */
  readonly runsTellPulls: boolean;
}

const FORGEJO_15: VersionFacts = {
  formerNameStatus: 301,
  hidesFormerNames: true,
  hookWithoutAddressStatus: 422,
  editKeepsStatusEvent: false,
  absentHeadStatus: 404,
  absentTipStatus: 404,
  unknownCommitStatus: 404,
  ruledPatchStatus: 500,
  otherBlobStatus: 409,
  sendsToDefaultBranch: false,
  reopensWithoutBranch: false,
  retargetRestatesPush: false,
  losesSuccessInCheck: false,
  mergesIntoTag: true,
  stateOfSkippedJob: 'success',
  wordsOfSkippedJob: 'Has been skipped',
  namesJobsByFile: false,
  runsTellPulls: false,
};

/** Of no fake: from 12 to 14 Forgejo differs from 15 in one answer. */
const FORGEJO_12: VersionFacts = { ...FORGEJO_15, unknownCommitStatus: 500 };

const GITEA_126: VersionFacts = {
  ...FORGEJO_15,
  hidesFormerNames: false,
  unknownCommitStatus: 500,
  ruledPatchStatus: 403,
  otherBlobStatus: 422,
  sendsToDefaultBranch: true,
  reopensWithoutBranch: true,
  retargetRestatesPush: true,
  mergesIntoTag: false,
  stateOfSkippedJob: 'skipped',
};

const GITEA_125: VersionFacts = { ...GITEA_126, ruledPatchStatus: 500 };

/** Of no fake: a profile of its own would differ from `fj11` in words alone. */
const GITEA_124: VersionFacts = {
  ...GITEA_125,
  mergesIntoTag: true,
  stateOfSkippedJob: 'success',
};

/** Of no fake. Seen on 1.23.8. */
const GITEA_123: VersionFacts = {
  ...GITEA_124,
  hookWithoutAddressStatus: 201,
  editKeepsStatusEvent: true,
  sendsToDefaultBranch: false,
  retargetRestatesPush: false,
  losesSuccessInCheck: true,
};

/** Of no fake. Seen on 1.22.3, which has no event of statuses. */
const GITEA_122: VersionFacts = {
  ...GITEA_123,
  formerNameStatus: 307,
  absentTipStatus: 500,
  editKeepsStatusEvent: false,
};

export const VERSION_FACTS: Readonly<Record<ProfileName, VersionFacts>> = {
  fj11: {
    formerNameStatus: 307,
    hidesFormerNames: true,
    hookWithoutAddressStatus: 201,
    editKeepsStatusEvent: false,
    absentHeadStatus: 500,
    absentTipStatus: 404,
    unknownCommitStatus: 500,
    ruledPatchStatus: 500,
    otherBlobStatus: 422,
    sendsToDefaultBranch: false,
    reopensWithoutBranch: false,
    retargetRestatesPush: false,
    losesSuccessInCheck: false,
    mergesIntoTag: true,
    stateOfSkippedJob: 'success',
    wordsOfSkippedJob: 'Has been skipped',
    namesJobsByFile: false,
    runsTellPulls: false,
  },
  fj15: FORGEJO_15,
  fj16: { ...FORGEJO_15, stateOfSkippedJob: 'skipped' },
  gt125: GITEA_125,
  gt126: GITEA_126,
  gt127: { ...GITEA_126, wordsOfSkippedJob: 'Skipped', namesJobsByFile: true, runsTellPulls: true },
};

/** The facts of the newest version seen that is not newer than this one. */
export function factsOf({ kind, major, minor }: ForgeVersion): VersionFacts {
  if (kind === 'gitea' && major === 1 && minor < 24) return minor < 23 ? GITEA_122 : GITEA_123;
  if (kind === 'gitea' && major === 1 && minor < 25) return GITEA_124;
  if (kind === 'gitea' && major === 1 && minor < 27) return VERSION_FACTS[minor < 26 ? 'gt125' : 'gt126'];
  if (kind === 'gitea') return VERSION_FACTS.gt127;
  if (major < 12) return VERSION_FACTS.fj11;
  if (major < 15) return FORGEJO_12;
  return VERSION_FACTS[major < 16 ? 'fj15' : 'fj16'];
}
