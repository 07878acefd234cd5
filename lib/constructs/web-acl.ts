import { Stack, Token } from 'aws-cdk-lib';
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

/** Five minutes of one address: far above a busy office, far below a flood. */
const REQUESTS_PER_FIVE_MINUTES_MAX = 3000;
const TOO_MANY = JSON.stringify({
  error: { code: 'rate_limited', message: 'Too many requests. Wait and try again.', retryable: true },
});

/**
 * Optional rules at the edge: a flood from one address, addresses of bad repute, inputs that only attacks have. The common
 * rule set is left out: it refuses bodies above 8 KB, and webhooks are larger.
 */
export class WebAcl extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { region } = Stack.of(this);
    if (!Token.isUnresolved(region) && region !== 'us-east-1') {
      throw new Error(
        `-c waf=true: rules for CloudFront live in us-east-1, this stack is in ${region}; give webAclArn`,
      );
    }
    const seen = (metricName: string) => ({
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: false,
      metricName,
    });
    const managed = (name: string, priority: number): CfnWebACL.RuleProperty => ({
      name,
      priority,
      overrideAction: { none: {} },
      statement: { managedRuleGroupStatement: { vendorName: 'AWS', name } },
      visibilityConfig: seen(name),
    });
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: seen('All'),
      customResponseBodies: { TooMany: { contentType: 'APPLICATION_JSON', content: TOO_MANY } },
      rules: [
        {
          name: 'Flood',
          priority: 0,
          action: { block: { customResponse: { responseCode: 429, customResponseBodyKey: 'TooMany' } } },
          statement: {
            rateBasedStatement: {
              limit: REQUESTS_PER_FIVE_MINUTES_MAX,
              evaluationWindowSec: 300,
              aggregateKeyType: 'IP',
            },
          },
          visibilityConfig: seen('Flood'),
        },
        managed('AWSManagedRulesAmazonIpReputationList', 1),
        managed('AWSManagedRulesKnownBadInputsRuleSet', 2),
      ],
    });
    this.arn = acl.attrArn;
  }
}
