import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { acknowledgeRules } from '../../lib/nag.ts';
import { synthesize } from '../support/synthesize.ts';
import { BORROWED, FULL } from '../support/template.ts';

/** Whether a rule is acknowledged on a construct or on one that holds it, as the report of a synthesis has it. */
function isAcknowledged(construct: IConstruct, rule: string): boolean {
  return construct.node.scopes.some(({ node }) =>
    node.metadata.some(
      ({ type, data }) =>
        type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY &&
        Object.hasOwn(data, `AwsSolutions::AwsSolutions-${rule}`),
    ),
  );
}

/** `npm run synth` ends with an error where a rule is neither followed nor acknowledged. */
test.each<[string, Readonly<Record<string, string>>]>([
  ['nothing is switched on', {}],
  ['everything is', FULL],
  ['a provider mails', { notificationFrom: 'queue@example.org', emailApiUrl: 'https://mail.example.org' }],
  ['network, identity provider and rules at the edge are those of the operator', BORROWED],
])('the rules of AwsSolutions are followed or acknowledged where %s', (_, context) => {
  const { stack } = synthesize(context);
  acknowledgeRules(stack);
  const { violations } = new AwsSolutionsChecks().validateScope(stack);
  expect(violations.length).toBeGreaterThan(5);
  const constructs = new Map(stack.node.root.node.findAll().map((each) => [each.node.path, each]));
  const left = violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.flatMap(({ constructPath = '' }) => {
      const construct = constructs.get(constructPath);
      const rule = ruleName.replace('AwsSolutions-', '');
      return construct !== undefined && isAcknowledged(construct, rule) ? [] : [`${rule} ${constructPath}`];
    }),
  );
  expect(left).toEqual([]);
});
