import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { ServiceStack } from './service-stack.ts';

/** Every rule that is not followed, with the reason. Reviewed whenever the stack changes. */
export const ACKNOWLEDGED: Readonly<Record<string, string>> = {};

export function addNagChecks(app: App, stack: ServiceStack): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const [id, reason] of Object.entries(ACKNOWLEDGED)) Validations.of(stack).acknowledge({ id, reason });
}
