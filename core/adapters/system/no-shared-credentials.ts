/**
 * Stands in for the SDK's ways to credentials that exist on a developer's machine only: shared files, single sign-on, helper
 * processes, tokens in files. Functions and tasks get theirs from the environment or their own endpoint, and 85 KB of each
 * bundle were for the others (lib/bundle.ts puts this in their place).
 */
class NotHere extends Error {
  override readonly name = 'CredentialsProviderError';
  /** The SDK's chain goes on to its next way. */
  readonly tryNextLink = true;
}

const refuse = () => async (): Promise<never> => {
  throw new NotHere('this way to credentials is not bundled');
};

export const fromSSO = refuse;
export const fromIni = refuse;
export const fromProcess = refuse;
export const fromTokenFile = refuse;
