import type {
  AccountStore,
  AdminStore,
  HealthStore,
  RateStore,
  RealtimeStore,
} from '../../ports/account-store.ts';
import type { AuthorStore } from '../../ports/author-store.ts';
import type { BillingStore } from '../../ports/billing-store.ts';
import type { DeliveryStore } from '../../ports/delivery-store.ts';
import type { LookStore } from '../../ports/idle-look.ts';
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { NoticeStore, WatchStore } from '../../ports/notifier.ts';
import type {
  DispatchStore,
  EngineStore,
  EnrollmentStore,
  LeaseStore,
  ReconcileStore,
} from '../../ports/store.ts';
import { createAccountStore } from './account-store.ts';
import { createAdminStore } from './admin-store.ts';
import { createAuthorStore } from './author-store.ts';
import { createBillingStore } from './billing-store.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createDispatchStore } from './dispatch-store.ts';
import { createEngineStore } from './engine-store.ts';
import { createEnrollmentStore } from './enrollment-store.ts';
import { createHealthStore } from './health-store.ts';
import { createLeaseStore } from './lease-store.ts';
import { createLookStore } from './look-store.ts';
import { createMailboxStore } from './mailbox-store.ts';
import { createNoticeStore } from './notice-store.ts';
import { createRateStore } from './rate-store.ts';
import { createRealtimeStore } from './realtime-store.ts';
import { createReconcileStore } from './reconcile-store.ts';
import type { TableConfig } from './table/table.ts';
import { Table } from './table/table.ts';
import { createWatchStore } from './watch-store.ts';

export type DynamoStore = EngineStore &
  LeaseStore &
  ReconcileStore &
  DispatchStore &
  EnrollmentStore &
  AccountStore &
  BillingStore &
  AdminStore &
  HealthStore &
  RateStore &
  RealtimeStore &
  LookStore &
  NoticeStore &
  MailboxStore &
  AuthorStore &
  WatchStore &
  DeliveryStore;

/**
 * The record in one DynamoDB table (keys: `README.md`). Every condition that fails is a value or a `StoreError`; contention and
 * throttling are retried here for about three seconds, connection errors by the SDK's client.
 */
export function createDynamoStore(config: TableConfig): DynamoStore {
  const table = new Table(config);
  return {
    ...createEngineStore(table),
    ...createLeaseStore(table),
    ...createReconcileStore(table),
    ...createDispatchStore(table),
    ...createEnrollmentStore(table),
    ...createAccountStore(table),
    ...createBillingStore(table),
    ...createAdminStore(table),
    ...createHealthStore(table),
    ...createRateStore(table),
    ...createRealtimeStore(table),
    ...createLookStore(table),
    ...createNoticeStore(table),
    ...createMailboxStore(table),
    ...createAuthorStore(table),
    ...createWatchStore(table),
    ...createDeliveryStore(table),
  };
}
