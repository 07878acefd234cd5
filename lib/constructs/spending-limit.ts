import { Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';

export interface SpendingLimitProps {
  readonly monthlyUsd: number;
  readonly email: string;
}

/** A budget of this deployment's tag: mail when most of it is spent, and when the month will go beyond it. */
export class SpendingLimit extends Construct {
  constructor(scope: Construct, id: string, props: SpendingLimitProps) {
    super(scope, id);
    const subscribers = [{ subscriptionType: 'EMAIL', address: props.email }];
    const warn = (notificationType: string, threshold: number) => ({
      notification: {
        notificationType,
        threshold,
        thresholdType: 'PERCENTAGE',
        comparisonOperator: 'GREATER_THAN',
      },
      subscribers,
    });
    new CfnBudget(this, 'Budget', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: props.monthlyUsd, unit: 'USD' },
        // Counts once the tag `deployment` is activated for cost allocation (docs/operate.md).
        costFilters: { TagKeyValue: [`user:deployment$${Stack.of(this).stackName}`] },
      },
      notificationsWithSubscribers: [warn('ACTUAL', 80), warn('FORECASTED', 100)],
    });
  }
}
