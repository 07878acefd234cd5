/** Tells repositories of one name apart. Throws `ForgeError`. */
export interface RepoIdReader {
  /**
   * The id that the forge gave the repository, which stays under another name (forge facts, 1). Another repository has another id.
   * Null where the forge names none.
   */
  readRepoId(): Promise<number | null>;
}
