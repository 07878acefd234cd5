import { AppError } from '../../contracts/errors.ts';
import { type Envelope, keyIdOf, readPublicKey, signedBytes } from '../../contracts/evidence/dsse.ts';
import { type EvidenceKey, PAYLOAD_TYPE, toLandingStatement } from '../../contracts/evidence/evidence.ts';
import { EVIDENCE_BATCHES_MAX, EVIDENCE_SCANNED_ROWS_MAX } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { findLanding } from '../../domain/queue/evidence.ts';
import { type Signer, SignerError } from '../../ports/signer.ts';
import type { DispatchStore, EngineStore } from '../../ports/store.ts';
import { loadOwnRepo } from '../repos/owned.ts';

export interface EvidenceDeps {
  readonly store: Pick<DispatchStore, 'getRepo'> & Pick<EngineStore, 'listOwnBatches'>;
  /** Null: this deployment signs nothing. */
  readonly signer: Signer | null;
}

type Wanted = Parameters<typeof findLanding>[1];

/** The signed statement of one landing of a managed repository, made from its receipt. */
export async function exportEvidence(
  { store, signer }: EvidenceDeps,
  tenantId: TenantId,
  id: string,
  wanted: Wanted,
): Promise<Envelope> {
  const repo = await loadOwnRepo(store, tenantId, id);
  if (signer === null) throw new AppError('evidence_not_configured');
  const rows = await store.listOwnBatches(repo, EVIDENCE_BATCHES_MAX, EVIDENCE_SCANNED_ROWS_MAX);
  const landing = findLanding(rows, wanted);
  if (landing === null) throw new AppError('not_found');
  const payload = Buffer.from(JSON.stringify(toLandingStatement(repo, landing)));
  return askSigner(async () => {
    const [key, signature] = await Promise.all([
      signer.readPublicKey(),
      signer.sign(signedBytes(PAYLOAD_TYPE, payload)),
    ]);
    return {
      payloadType: PAYLOAD_TYPE,
      payload: payload.toString('base64'),
      signatures: [{ keyid: nameKey(key.pem), sig: Buffer.from(signature).toString('base64') }],
    };
  });
}

/** The public half of the key, with which a statement is verified without this service. */
export async function readEvidenceKey({ signer }: Pick<EvidenceDeps, 'signer'>): Promise<EvidenceKey> {
  if (signer === null) throw new AppError('evidence_not_configured');
  const { pem } = await askSigner(() => signer.readPublicKey());
  return { keyid: nameKey(pem), algorithm: 'ECDSA_SHA_256', public_key: pem };
}

function nameKey(pem: string): string {
  const key = readPublicKey(pem);
  if (key === null) throw new SignerError();
  return keyIdOf(key);
}

async function askSigner<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SignerError) throw new AppError('signing_unavailable');
    throw error;
  }
}
