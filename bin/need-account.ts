/** The part of a client of the SDK that finds region and credentials by itself in all the usual places. */
interface Client {
  readonly config: { region(): Promise<string>; credentials(): Promise<unknown> };
}

class NoAccount extends Error {}

/** Before the first call: what a command says of a call that failed would not fit one that was never made. */
export async function needAccount({ config }: Client): Promise<void> {
  try {
    await config.region();
    await config.credentials();
  } catch {
    throw new NoAccount(
      'nothing was asked: credentials of the AWS account, or its region, are missing. Sign in (aws sso login), or set AWS_PROFILE and AWS_REGION, and start it again.',
    );
  }
}

/** Null: another fault. */
export function sayNoAccount(error: unknown): string | null {
  return error instanceof NoAccount ? error.message : null;
}
