import * as z from 'zod';
import type { ProvenLanding } from '../../domain/queue/evidence.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { formatTime, Time } from '../fields.ts';
import { Envelope } from './dsse.ts';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
/** Described in docs/evidence.md. A name, not an address: no service has to stay up for a statement to be read. */
const LANDING_PREDICATE = 'urn:mergeyard:landing:v1';

const ObjectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const judgedPull = z.strictObject({ number: z.int(), head: ObjectId.nullable() });

/** The predicate of one landing: what was proven, by which gate run, and the merge that has exactly that tree. */
const LandingPredicate = z.strictObject({
  repository: z.strictObject({ forge: z.string(), name: z.string(), base_branch: z.string() }),
  pull_request: z.strictObject({
    number: z.int(),
    head: ObjectId,
    /** Login on the forge; null: not known. */
    scheduled_by: z.string().nullable(),
    /** Logins of those who had officially approved that head; null: not asked, or not known. Absent in older statements. */
    approved_by: z.array(z.string()).nullable().optional(),
  }),
  merge: z.strictObject({ commit: ObjectId, tree: ObjectId, base_before: ObjectId, landed_at: Time }),
  gate: z.strictObject({
    verdict: z.literal('success'),
    commit: ObjectId,
    /** The tree that the run judged; null: not kept at the time. Another one than the merge's: that is an exact prefix of it. */
    tree: ObjectId.nullable(),
    run_url: z.string().nullable(),
    /** The run was one of the pull request's own head, which has exactly this tree. */
    own_run: z.boolean(),
    /** All members of the batch that the run judged; null: not kept, or a run of a head. */
    pull_requests: z.array(judgedPull).nullable(),
  }),
  batch: z.strictObject({ run_id: z.string(), node_id: z.string() }),
});

/** An in-toto statement v1 about one merge commit and its tree. */
export const LandingStatement = z.strictObject({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.tuple([
    z.strictObject({ name: z.literal('merge'), digest: z.strictObject({ gitCommit: ObjectId }) }),
    z.strictObject({ name: z.literal('tree'), digest: z.strictObject({ gitTree: ObjectId }) }),
  ]),
  predicateType: z.literal(LANDING_PREDICATE),
  predicate: LandingPredicate,
});
export type LandingStatement = z.infer<typeof LandingStatement>;

export const EvidenceQuery = z.object({
  /** Full id of a merge commit. */
  commit: ObjectId,
});
export const EvidenceEnvelope = Envelope;
export const EvidenceKey = z.object({
  /** SHA-256 of the public key as DER: the `keyid` of signatures. */
  keyid: z.string(),
  algorithm: z.literal('ECDSA_SHA_256'),
  /** PEM. */
  public_key: z.string(),
});
export type EvidenceKey = z.infer<typeof EvidenceKey>;

/** Keys in a fixed order: the same landing is the same text. */
export function toLandingStatement(
  repo: Pick<ManagedRepo, 'instanceUrl' | 'slug' | 'baseBranch'>,
  { pr, receipt, row, judged }: ProvenLanding,
): LandingStatement {
  const { mergeCommit, tree } = receipt;
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { name: 'merge', digest: { gitCommit: mergeCommit } },
      { name: 'tree', digest: { gitTree: tree } },
    ],
    predicateType: LANDING_PREDICATE,
    predicate: {
      repository: { forge: repo.instanceUrl, name: repo.slug, base_branch: repo.baseBranch },
      pull_request: {
        number: pr,
        head: receipt.head,
        scheduled_by: receipt.scheduledBy ?? null,
        approved_by: receipt.approvedBy === undefined ? null : [...receipt.approvedBy],
      },
      merge: {
        commit: mergeCommit,
        tree,
        base_before: receipt.baseBefore,
        landed_at: formatTime(receipt.landedAt),
      },
      gate: {
        verdict: 'success',
        commit: receipt.stagedSha,
        tree: receipt.gatedTree ?? null,
        run_url: receipt.runUrl,
        own_run: receipt.ofHead === true,
        pull_requests: judged?.map((each) => ({ number: each.pr, head: each.head })) ?? null,
      },
      batch: { run_id: row.batchId, node_id: row.nodeId },
    },
  };
}
