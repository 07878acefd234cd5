import { BILLING_STATUSES, type Plan, TIERS } from '../../../domain/tenants/billing.ts';
import type { AuditEntry, Organization, Tenant } from '../../../ports/account-store.ts';
import type { StoredBilling } from '../../../ports/billing-store.ts';
import { defaulted, flag, nullable, oneOf, record, text, whole } from './codec.ts';

export const tenantRow = record<Tenant>({
  id: ['tenant_id', text],
  createdAt: ['created_at', whole],
  connections: ['conn_count', whole],
  repos: ['repo_count', whole],
  deleting: ['deleting', defaulted(flag, false)],
});

export const organizationRow = record<Organization>({
  id: ['organization_id', text],
  ownerTenantId: ['owner_tenant_id', text],
  name: ['name', text],
  createdAt: ['created_at', whole],
});

export const planRow = record<Plan>({
  tier: ['tier', oneOf(TIERS)],
  status: ['status', oneOf(BILLING_STATUSES)],
});

/**
 * The plan row with the customer and the subscription at the provider. The defaults are those of rows from before plans
 * were sold.
 */
export const billingRow = record<StoredBilling>({
  tier: ['tier', oneOf(TIERS)],
  status: ['status', oneOf(BILLING_STATUSES)],
  customerId: ['customer_id', defaulted(nullable(text), null)],
  subscriptionId: ['subscription_id', defaulted(nullable(text), null)],
  version: ['version', defaulted(whole, 0)],
});

export const auditRow = record<AuditEntry>({
  id: ['audit_id', text],
  tenantId: ['tenant_id', text],
  at: ['at', whole],
  actor: ['actor', text],
  from: ['from_network', defaulted(nullable(text), null)],
  action: ['action', text],
  target: ['target', text],
  result: ['result', oneOf(['ok', 'failed'])],
});
