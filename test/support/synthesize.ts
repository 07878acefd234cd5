import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { BUNDLE_ENTRIES } from '../../lib/functions.ts';
import { ServiceStack, type ServiceStackProps } from '../../lib/service-stack.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';

/** Assertions look at the template, never into an asset, so empty bundles do. */
function makeEmptyBundles(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mergeyard-bundles-'));
  for (const name of Object.keys(BUNDLE_ENTRIES)) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'index.mjs'), '');
    if (name === 'engine') writeFileSync(join(dir, name, 'Dockerfile'), '');
  }
  return dir;
}

export interface Synthesized {
  readonly stack: ServiceStack;
  readonly template: Template;
}

/** What is deployed already. */
export type Past = Pick<ServiceStackProps, 'movesSecrets' | 'isFirst' | 'tellsCapitalsApart'>;

export function synthesize(context: Readonly<Record<string, string>> = {}, past: Past = {}): Synthesized {
  process.env.CDK_VALIDATION = 'false';
  const bundlesDir = makeEmptyBundles();
  try {
    const app = new App({ context });
    const config = parseStageConfig(app.node.getAllContext());
    const stack = new ServiceStack(app, 'Test', { config, bundlesDir, ...past });
    return { stack, template: Template.fromStack(stack) };
  } finally {
    rmSync(bundlesDir, { recursive: true, force: true });
  }
}
