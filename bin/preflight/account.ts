import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { CHECKS, type Check, type Finding, type Place } from './checks.ts';

export const NEEDS_CREDENTIALS =
  'preflight needs credentials of the AWS account that you deploy to, and a region: sign in (aws sso login), or set AWS_PROFILE and AWS_REGION, and start it again.';

/** `unknown`: the account did not answer, or refused; nothing is said about it. */
export interface Result {
  readonly what: string;
  readonly finding: Finding | { readonly level: 'unknown'; readonly says: string; readonly fix: string };
}

/** Where credentials and region lead to. Null: there are none. Throws where AWS refuses them. */
export async function findPlace(): Promise<{
  readonly account: string;
  readonly region: string;
  readonly partition: string;
} | null> {
  const client = new STSClient({});
  let region: string;
  try {
    region = await client.config.region();
    await client.config.credentials();
  } catch {
    return null;
  }
  const { Account = '', Arn = '' } = await client.send(new GetCallerIdentityCommand({}));
  return { account: Account, region, partition: Arn.split(':')[1] ?? '' };
}

/** Every check, one after the other; one that fails says nothing about the others. */
export async function runChecks(place: Place, checks: readonly Check[] = CHECKS): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const check of checks) results.push({ what: check.what, finding: await runOne(check, place) });
  return results;
}

async function runOne(check: Check, place: Place): Promise<Result['finding']> {
  try {
    return await check.run(place);
  } catch (error) {
    const fault = error instanceof Error ? error.name : 'unknown';
    return {
      level: 'unknown',
      says: `could not be looked at: ${fault}`,
      fix: `the check needs ${check.needs}`,
    };
  }
}

const MARKS = { ok: 'ok  ', note: 'note', stop: 'STOP', unknown: '?   ' } as const;

export function renderResult({ what, finding }: Result): string {
  const line = `${MARKS[finding.level]}  ${what}: ${finding.says}`;
  return finding.fix === undefined ? line : `${line}\n        fix: ${finding.fix}`;
}
