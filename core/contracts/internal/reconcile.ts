import * as z from 'zod';
import { parseUrl } from '../../domain/parse-url.ts';
import type { ReconcileRequest } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';

export const RECONCILE_PATH = '/internal/reconcile';

const required = z.string().min(1);

/** `owner/name` exactly: one slash, both parts non-empty (D-76). */
export const RepoSlug = required.regex(/^[^/]+\/[^/]+$/);

/** `https://host…`. WHATWG parsing alone would also take `https:host`, tabs and new lines. */
export const HttpsUrl = required.refine((text) => {
  if (!/^https:\/\/[^/?#\s\\]/i.test(text) || /[\s\\]/.test(text)) return false;
  const url = parseUrl(text);
  return url !== null && url.protocol === 'https:' && url.hostname !== '';
});

/** Body of the internal reconcile request (contract, Internal reconcile endpoint). */
export const ReconcileBody = z.strictObject({
  tenant_id: required,
  repo_slug: RepoSlug,
  base_branch: required,
  queue_name: required,
  instance_url: HttpsUrl,
  token: required,
});
export type ReconcileBody = z.infer<typeof ReconcileBody>;

export function toReconcileBody(request: ReconcileRequest): ReconcileBody {
  return {
    tenant_id: request.tenantId,
    repo_slug: request.repoSlug,
    base_branch: request.baseBranch,
    queue_name: request.queueName,
    instance_url: request.instanceUrl,
    token: request.token.reveal(),
  };
}

export function toReconcileRequest(body: ReconcileBody): ReconcileRequest {
  return {
    tenantId: body.tenant_id,
    repoSlug: body.repo_slug,
    baseBranch: body.base_branch,
    queueName: body.queue_name,
    instanceUrl: body.instance_url,
    token: new Secret(body.token),
  };
}
