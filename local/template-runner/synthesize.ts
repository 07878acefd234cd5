import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import type { Json, JsonObject } from '../../core/ports/invocable.ts';
import { ServiceStack } from '../../lib/service-stack.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';
import { asObject, asText, fail, Template } from './template.ts';

export interface SynthesisOptions {
  /** Bundles made by `buildBundles`. */
  readonly bundlesDir: string;
  /** Where the assembly is written. */
  readonly outDir: string;
  /** The same keys as `cdk deploy -c key=value`. */
  readonly context: Readonly<Record<string, string>>;
}

/** A synthesized template and where its code assets lie. */
export interface Assembly {
  readonly template: Template;
  /** Folder of a function's code, by `S3Key`, or of an image's context, by tag. */
  assetFolder(hash: string): string;
}

const STACK_ID = 'Mergeyard-local';

function readJson(file: string): Json {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** The template that would be deployed, made in this process; the offline validator is for CI, it takes seconds. */
export function synthesizeAssembly(options: SynthesisOptions): Assembly {
  process.env.CDK_VALIDATION = 'false';
  const app = new App({ outdir: options.outDir, context: { ...options.context }, analyticsReporting: false });
  const config = parseStageConfig(app.node.getAllContext());
  new ServiceStack(app, STACK_ID, { config, bundlesDir: options.bundlesDir });
  app.synth();
  const manifest = asObject(readJson(join(options.outDir, `${STACK_ID}.assets.json`)), 'assets');
  return {
    template: new Template(readJson(join(options.outDir, `${STACK_ID}.template.json`))),
    assetFolder: (hash) => join(options.outDir, findAsset(manifest, hash)),
  };
}

function findAsset(manifest: JsonObject, hash: string): string {
  for (const [kind, field] of [
    ['files', 'path'],
    ['dockerImages', 'directory'],
  ] as const) {
    const entry = asObject(manifest[kind] ?? {}, kind)[hash];
    if (entry !== undefined) return asText(asObject(asObject(entry, hash).source, hash)[field], hash);
  }
  return fail(hash, 'no such asset');
}
