import { EvidenceEnvelope, EvidenceKey, EvidenceQuery } from '../evidence/evidence.ts';
import type { RouteSpec } from './route-spec.ts';

const SIGNED = ['not_found', 'db_error', 'evidence_not_configured', 'signing_unavailable'] as const;

/** Signed statements of landings, and the key with which they are verified. */
export const EVIDENCE_ROUTES = [
  {
    id: 'readPullEvidence',
    method: 'GET',
    path: '/api/v1/user/repos/{id}/pulls/{number}/evidence',
    surface: 'evidence',
    auth: 'bearer',
    scope: 'read',
    replies: { 200: EvidenceEnvelope },
    errors: SIGNED,
  },
  {
    id: 'readCommitEvidence',
    method: 'GET',
    path: '/api/v1/user/repos/{id}/evidence',
    surface: 'evidence',
    auth: 'bearer',
    scope: 'read',
    query: EvidenceQuery,
    replies: { 200: EvidenceEnvelope },
    errors: [...SIGNED, 'missing_fields', 'invalid_field'],
  },
  {
    // A verifier of statements has no account here, and a public key is no secret.
    id: 'readEvidenceKey',
    method: 'GET',
    path: '/api/v1/evidence/key',
    surface: 'evidence',
    auth: 'none',
    replies: { 200: EvidenceKey },
    errors: ['evidence_not_configured', 'signing_unavailable'],
  },
] as const satisfies readonly RouteSpec[];
