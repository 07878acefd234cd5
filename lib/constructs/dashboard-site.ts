import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { SiteEnv } from '../../lambdas/site/env.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { type FunctionDefaults, ServiceFunction } from './service-function.ts';

export interface DashboardSiteProps {
  readonly defaults: FunctionDefaults;
  readonly identity: IdentityProvider;
  /** Stamp that each request must carry; empty: requests need not come through the distribution. */
  readonly requiredStamp: string;
  /** Whether this deployment has a way to send mail; the page says so where it has none. */
  readonly sendsMail: boolean;
}

/** Addresses that no endpoint has: the page, its files and its configuration. */
export const SITE_ROUTES = ['GET /', 'GET /{page+}'] as const;

/**
 * The page, served by a function from its own bundle and kept by the edge. Page and code are one asset, so they are deployed
 * and rolled back in one step, and the local run serves the same. A bucket would need a second command to fill it, or a
 * custom resource with wildcard rights. Headers and policy come from `core/contracts/internal/dashboard.ts`.
 */
export class DashboardSite extends Construct {
  readonly fn: ServiceFunction;

  constructor(scope: Construct, id: string, props: DashboardSiteProps) {
    super(scope, id);
    this.fn = new ServiceFunction(this, 'Site', {
      defaults: props.defaults,
      bundle: 'site',
      env: SiteEnv,
      memoryMb: 256,
      timeout: Duration.seconds(10),
    });
    props.identity.grantSignIn(this.fn);
    this.fn.setEnv('REQUIRED_STAMP', props.requiredStamp);
    this.fn.setEnv('SENDS_MAIL', String(props.sendsMail));
  }
}
