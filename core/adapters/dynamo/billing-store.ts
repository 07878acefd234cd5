import type { TenantId } from '../../domain/ids.ts';
import { PAYMENT_EVENT_KEPT_MS } from '../../domain/limits.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { BillingAccount, BillingStore } from '../../ports/billing-store.ts';
import { StoreError } from '../../ports/store.ts';
import { billingRow, planRow } from './rows/account-items.ts';
import { text } from './rows/codec.ts';
import { customerKey, paymentEventKey, planKey, tenantKey } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Step, Table } from './table/table.ts';

export function createBillingStore(table: Table): BillingStore & PlanMethods {
  return {
    ...createPlanMethods(table),

    async loadBilling(tenantId) {
      const row = await table.get(planKey(tenantId), 'loadBilling');
      return row === null ? null : readRow(billingRow, row, 'loadBilling');
    },

    async findCustomerTenant(customerId) {
      const row = await table.get(customerKey(customerId), 'findCustomerTenant');
      return row === null ? null : readRow(text, row.tenant_id, 'findCustomerTenant');
    },

    async forgetCustomer(customerId) {
      await table.remove({ Key: customerKey(customerId) }, 'forgetCustomer');
    },

    async isEventTaken(eventId) {
      const row = await table.get(paymentEventKey(eventId), 'isEventTaken');
      return row !== null;
    },

    async saveBilling(tenantId, account, expectedVersion, eventId) {
      const refusals = await table.transact(
        [
          {
            name: 'tenant',
            check: {
              Key: tenantKey(tenantId),
              ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(deleting)',
            },
          },
          putAccount(tenantId, account, expectedVersion),
          ...customerStep(tenantId, account.customerId),
          ...(eventId === null ? [] : [takeEvent(eventId, table.clock.now())]),
        ],
        'saveBilling',
      );
      if (refusals.has('event')) return 'seen';
      if (refusals.has('tenant')) return 'tenant_gone';
      if (refusals.has('customer')) throw new StoreError('lost_race', 'saveBilling');
      return refusals.has('account') ? 'lost_race' : 'saved';
    },
  };
}

function putAccount(tenantId: TenantId, account: BillingAccount, expectedVersion: number | null): Step {
  const Item = {
    ...planKey(tenantId),
    ...billingRow.write({ ...account, version: (expectedVersion ?? 0) + 1 }),
  };
  if (expectedVersion === null) {
    return { name: 'account', put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
  }
  // A row of before versions were stored counts as version 0.
  const unversioned = expectedVersion === 0 ? ' OR (attribute_exists(pk) AND attribute_not_exists(#v))' : '';
  return {
    name: 'account',
    put: {
      Item,
      ConditionExpression: `#v = :version${unversioned}`,
      ExpressionAttributeNames: { '#v': 'version' },
      ExpressionAttributeValues: { ':version': expectedVersion },
    },
  };
}

/** Step that binds a customer of the provider to one tenant for ever: an event must never move another tenant's plan. */
function customerStep(tenantId: TenantId, customerId: string | null): readonly Step[] {
  if (customerId === null) return [];
  return [
    {
      name: 'customer',
      put: {
        Item: { ...customerKey(customerId), tenant_id: tenantId },
        ConditionExpression: 'attribute_not_exists(pk) OR tenant_id = :tenant',
        ExpressionAttributeValues: { ':tenant': tenantId },
      },
    },
  ];
}

/** Step that claims an event. Its row may outlive its time, because an event id is never used again. */
function takeEvent(eventId: string, now: number): Step {
  const Item = { ...paymentEventKey(eventId), ttl: Math.ceil((now + PAYMENT_EVENT_KEPT_MS) / 1000) };
  return { name: 'event', put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

type PlanMethods = Pick<AccountStore, 'loadPlan' | 'savePlan' | 'deletePlan'>;

/** Methods for the plan, without the customer at the provider. */
function createPlanMethods(table: Table): PlanMethods {
  return {
    async loadPlan(tenantId) {
      const row = await table.get(planKey(tenantId), 'loadPlan');
      return row === null ? null : readRow(planRow, row, 'loadPlan');
    },

    async savePlan(tenantId, plan) {
      await table.update(
        {
          Key: planKey(tenantId),
          UpdateExpression:
            'SET tier = :tier, #status = :status, customer_id = if_not_exists(customer_id, :none), subscription_id = if_not_exists(subscription_id, :none) ADD #v :one',
          ExpressionAttributeNames: { '#status': 'status', '#v': 'version' },
          ExpressionAttributeValues: {
            ':tier': plan.tier,
            ':status': plan.status,
            ':none': null,
            ':one': 1,
          },
        },
        'savePlan',
      );
    },

    async deletePlan(tenantId) {
      const row = await table.get(planKey(tenantId), 'deletePlan');
      if (row === null) return false;
      // First what only this row leads to: a crash in between must not leave a look-up behind (A100).
      if (typeof row.customer_id === 'string') {
        await table.remove({ Key: customerKey(row.customer_id) }, 'deletePlan');
      }
      return (await table.remove({ Key: planKey(tenantId) }, 'deletePlan')) !== null;
    },
  };
}
