import type { TenantId } from '../../domain/ids.ts';
import type { NoticeRequestStore } from '../../ports/notifier.ts';
import type { Log } from '../../ports/system.ts';

export interface AskNoticeDeps {
  readonly store: NoticeRequestStore;
  readonly log: Log;
}

export interface FailedInvoice {
  readonly tenantId: TenantId;
  /** The provider's id of the invoice. */
  readonly invoiceId: string;
  /** Where the provider writes to; null when the event tells none. */
  readonly email: string | null;
}

/**
 * "Invoice failed, the tenant is notified" (contract, Received): one write, the notify function sends it from the stream.
 * Best effort: never throws, because a notice that cannot be asked for must not make the provider send its event again.
 */
export async function askInvoiceNotice(deps: AskNoticeDeps, invoice: FailedInvoice): Promise<void> {
  const { tenantId, invoiceId, email } = invoice;
  try {
    await deps.store.requestNotice({ kind: 'invoice_failed', tenantId, subject: invoiceId, email });
  } catch (error) {
    deps.log.warn('a notice could not be asked for', { tenant_id: tenantId, kind: 'invoice_failed', error });
  }
}
