import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { QUEUE_METRICS, REPO_SIZES } from '../core/domain/queue/queue-metrics.ts';
import { COST_STATES, type DeploymentSize, estimateCost, type ResourceCounts, sumUsd } from './cost.ts';
import { BUNDLE_ENTRIES } from './functions.ts';

/** Resources that one stack may have. */
const STACK_LIMIT = 500;
const TEMPLATE_BYTES_MAX = 1_000_000;

interface Resource {
  readonly Type: string;
  readonly Properties?: {
    readonly EventSourceArn?: unknown;
    /** Property of an ECS service. */
    readonly NetworkConfiguration?: {
      readonly AwsvpcConfiguration?: { readonly AssignPublicIp?: string };
    };
    readonly StartingPosition?: string;
    /** Property of a KMS key. */
    readonly KeyUsage?: string;
    /** Property of an ECS task definition. */
    readonly Cpu?: string;
    readonly Memory?: string;
    /** Property of a Lambda function. */
    readonly MemorySize?: number;
    readonly ContainerDefinitions?: readonly {
      readonly Environment?: readonly { readonly Name: string; readonly Value?: unknown }[];
    }[];
    readonly Environment?: { readonly Variables?: Readonly<Record<string, unknown>> };
    /** Property of an alarm on an expression. */
    readonly Metrics?: readonly { readonly MetricStat?: unknown }[];
  };
}

/** Prints what `cdk synth` has made: size of the template and of every bundle, and what it costs in each state of `COST_STATES`. */
function printReport(rootDir: string): void {
  const assembly = join(rootDir, 'cdk.out');
  for (const file of listTemplates(assembly)) {
    const text = readFileSync(join(assembly, file), 'utf8');
    const { Resources }: { readonly Resources: Readonly<Record<string, Resource>> } = JSON.parse(text);
    const resources = Object.values(Resources);
    console.log(
      `\n${file}: ${resources.length} of ${STACK_LIMIT} resources, ${kilobytes(text.length)} of ${kilobytes(TEMPLATE_BYTES_MAX)}`,
    );
    printCost(countResources(resources), findSize(resources));
  }
  printBundles(join(rootDir, 'dist'));
}

/** Files of the templates of this synthesis; the folder may hold templates of earlier ones. */
function listTemplates(assembly: string): string[] {
  const manifest: {
    readonly artifacts: Readonly<
      Record<string, { readonly properties?: { readonly templateFile?: string } }>
    >;
  } = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
  return Object.values(manifest.artifacts).flatMap(({ properties }) => properties?.templateFile ?? []);
}

export function countResources(resources: readonly Resource[]): ResourceCounts {
  const counts: Record<string, number> = {};
  for (const { Type, Properties } of resources) {
    counts[Type] = (counts[Type] ?? 0) + 1;
    if (Type === 'AWS::CloudWatch::Alarm') {
      const watched =
        Properties?.Metrics?.filter((metric: { MetricStat?: unknown }) => metric.MetricStat).length ?? 1;
      counts['alarm metrics'] = (counts['alarm metrics'] ?? 0) + watched;
    }
    const isMeasured = Properties?.ContainerDefinitions?.some(({ Environment = [] }) =>
      Environment.some(({ Name, Value }) => Name === 'METRICS_DEPLOYMENT' && Value !== ''),
    );
    if (isMeasured) counts['queue metrics'] = Object.keys(QUEUE_METRICS).length * REPO_SIZES.length;
    if (Properties?.NetworkConfiguration?.AwsvpcConfiguration?.AssignPublicIp === 'ENABLED')
      counts['services with addresses'] = (counts['services with addresses'] ?? 0) + 1;
    if (Type === 'AWS::KMS::Key' && Properties?.KeyUsage === 'SIGN_VERIFY')
      counts['signing keys'] = (counts['signing keys'] ?? 0) + 1;
    // A stream is read without a charge; a queue is asked, and asking costs.
    if (Type === 'AWS::Lambda::EventSourceMapping' && Properties?.StartingPosition === undefined) {
      counts['queue mappings'] = (counts['queue mappings'] ?? 0) + 1;
    }
  }
  return counts;
}

/**
 * Sizes in the template: of the one task definition (CPU in 1,024ths of a virtual CPU, memory in MiB), and of the tick.
 */
export function findSize(resources: readonly Resource[]): DeploymentSize {
  const task = resources.find(({ Type }) => Type === 'AWS::ECS::TaskDefinition');
  // Of those that tend the engine, the tick alone takes dead wakes.
  const tick = resources.find(
    ({ Properties }) => Properties?.Environment?.Variables?.DEAD_WAKES_URL,
  )?.Properties;
  return {
    vcpu: Number(task?.Properties?.Cpu ?? 0) / 1024,
    gb: Number(task?.Properties?.Memory ?? 0) / 1024,
    tasks: Number(tick?.Environment?.Variables?.ENGINE_TASKS ?? 0),
    tickGb: (tick?.MemorySize ?? 0) / 1024,
  };
}

function printCost(counts: ResourceCounts, size: DeploymentSize): void {
  const lines = estimateCost(counts, size);
  const columns = (values: readonly string[]): string => values.map((each) => each.padStart(8)).join('');
  console.log('\nUSD a month (us-east-1, estimate of lib/cost.ts)');
  console.log(`${columns(COST_STATES)}`);
  for (const line of lines) {
    const prices = columns(COST_STATES.map((state) => line[state].toFixed(2)));
    console.log(`${prices}  ${line.what.padEnd(44)} ${line.basis}`);
  }
  console.log(`${columns(COST_STATES.map((state) => sumUsd(lines, state).toFixed(2)))}  all of it`);
}

function printBundles(dist: string): void {
  console.log('\nBundles, minified and as a zip would hold them');
  for (const name of Object.keys(BUNDLE_ENTRIES)) {
    const file = join(dist, name, 'index.mjs');
    if (!existsSync(file)) continue;
    const bytes = readFileSync(file);
    console.log(
      `  ${kilobytes(statSync(file).size).padStart(7)} ${kilobytes(gzipSync(bytes).length).padStart(7)}  ${name}`,
    );
  }
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} KB`;
}

if (process.argv[1]?.endsWith(join('lib', 'report.ts'))) printReport(process.cwd());
