import * as z from 'zod';
import type { HaltEvidence } from '../../domain/queue/queue-view.ts';

/** The evidence of a stop for a wrong tree. */
export const HaltEvidenceView = z.object({
  merge_commit: z.string(),
  landed_tree: z.string(),
  proven_tree: z.string(),
  base_before: z.string(),
});

export function toHaltEvidence(evidence: HaltEvidence | undefined): z.infer<typeof HaltEvidenceView> | null {
  if (evidence === undefined) return null;
  const { mergeCommit, landedTree, provenTree, baseBefore } = evidence;
  return {
    merge_commit: mergeCommit,
    landed_tree: landedTree,
    proven_tree: provenTree,
    base_before: baseBefore,
  };
}
