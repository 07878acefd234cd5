import * as z from 'zod';
import type { RepoId } from '../../domain/ids.ts';
import { Uuid } from '../fields.ts';

/** No event of a gateway has this shape: all of theirs have further fields. */
const Request = z.strictObject({ repair_setup_of: Uuid });

/** The payload of one invocation of the function that sets repositories up. */
export function writeRepairRequest(repoId: RepoId): string {
  return JSON.stringify({ repair_setup_of: repoId } satisfies z.input<typeof Request>);
}

/** The payload of an invocation that carries landings of a repository to other branches. */
const BackportRequest = z.strictObject({ backports_of: Uuid });

export function writeBackportRequest(repoId: RepoId): string {
  return JSON.stringify({ backports_of: repoId } satisfies z.input<typeof BackportRequest>);
}

/** Null: something else. */
export function readBackportRequest(event: unknown): RepoId | null {
  return BackportRequest.safeParse(event).data?.backports_of ?? null;
}

/** Null: something else, such as a request of a person. */
export function readRepairRequest(event: unknown): RepoId | null {
  return Request.safeParse(event).data?.repair_setup_of ?? null;
}
