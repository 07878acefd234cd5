import { SignInError } from '../../data/ask-provider.ts';

const say = (error: unknown): string | null =>
  error === null
    ? null
    : error instanceof SignInError
      ? error.message
      : 'That did not work. Try again in a moment.';

/** Why a step at the identity provider did not work. */
export function Failure({ error }: { readonly error: unknown }) {
  const words = say(error);
  return words === null ? null : (
    <p className="field-error" role="alert">
      {words}
    </p>
  );
}
