import { describeAccount } from './store/account.suite.ts';
import { describeBilling } from './store/billing.suite.ts';
import { describeBranches } from './store/branches.suite.ts';
import { describeDeletion } from './store/deletion.suite.ts';
import { describeDispatch } from './store/dispatch.suite.ts';
import { describeEnrollment } from './store/enrollment.suite.ts';
import { describeLease } from './store/lease.suite.ts';
import { describeNotices } from './store/notices.suite.ts';
import { describeQueueRecord } from './store/queue-record.suite.ts';
import { describeReconciles } from './store/reconcile.suite.ts';
import type { OpenSubject } from './store/subject.ts';
import { useWorld } from './store/subject.ts';
import { describeTokens } from './store/tokens.suite.ts';

/** One suite for every implementation of the store ports: what passes here may be swapped for another. */
export function describeStore(name: string, open: OpenSubject): void {
  describe(name, () => {
    const world = useWorld(open);
    describeLease(world);
    describeReconciles(world);
    describeQueueRecord(world);
    describeDispatch(world);
    describeEnrollment(world);
    describeBranches(world);
    describeDeletion(world);
    describeAccount(world);
    describeBilling(world);
    describeTokens(world);
    describeNotices(world);
  });
}
