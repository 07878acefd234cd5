import { Stack, Token } from 'aws-cdk-lib';
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

/** Requests of one address in five minutes: far above a busy office, far below a flood. */
const REQUESTS_PER_FIVE_MINUTES_MAX = 3000;
/**
 * Webhook deliveries of one address in five minutes: one forge sends the events of all its tenants from one address.
 * The function has limits for each repository.
 */
const EVENTS_PER_FIVE_MINUTES_MAX = 60_000;
const WEBHOOKS_PATH = '/api/v1/webhooks/';
const TOO_MANY = JSON.stringify({
  error: { code: 'rate_limited', message: 'Too many requests. Wait and try again.', retryable: true },
});

const isWebhook: CfnWebACL.StatementProperty = {
  byteMatchStatement: {
    fieldToMatch: { uriPath: {} },
    positionalConstraint: 'STARTS_WITH',
    searchString: WEBHOOKS_PATH,
    textTransformations: [{ priority: 0, type: 'NONE' }],
  },
};
const isNoWebhook: CfnWebACL.StatementProperty = { notStatement: { statement: isWebhook } };

/**
 * Optional rules at the edge: a flood from one address, addresses of bad repute, inputs that only attacks have. The common
 * rule set is left out: it refuses bodies above 8 KB, and webhooks are larger. No input of a webhook is judged: a pull request
 * that quotes an attack is none, and what is in an event is signed.
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
    const managed = (
      name: string,
      priority: number,
      scopeDownStatement?: CfnWebACL.StatementProperty,
    ): CfnWebACL.RuleProperty => ({
      name,
      priority,
      overrideAction: { none: {} },
      statement: {
        managedRuleGroupStatement: {
          vendorName: 'AWS',
          name,
          ...(scopeDownStatement === undefined ? {} : { scopeDownStatement }),
        },
      },
      visibilityConfig: seen(name),
    });
    const flood = (
      name: string,
      priority: number,
      limit: number,
      scopeDownStatement: CfnWebACL.StatementProperty,
    ): CfnWebACL.RuleProperty => ({
      name,
      priority,
      action: { block: { customResponse: { responseCode: 429, customResponseBodyKey: 'TooMany' } } },
      statement: {
        rateBasedStatement: { limit, evaluationWindowSec: 300, aggregateKeyType: 'IP', scopeDownStatement },
      },
      visibilityConfig: seen(name),
    });
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: seen('All'),
      customResponseBodies: { TooMany: { contentType: 'APPLICATION_JSON', content: TOO_MANY } },
      rules: [
        flood('Flood', 0, REQUESTS_PER_FIVE_MINUTES_MAX, isNoWebhook),
        managed('AWSManagedRulesAmazonIpReputationList', 1),
        managed('AWSManagedRulesKnownBadInputsRuleSet', 2, isNoWebhook),
        flood('FloodOfEvents', 3, EVENTS_PER_FIVE_MINUTES_MAX, isWebhook),
      ],
    });
    this.arn = acl.attrArn;
  }
}
