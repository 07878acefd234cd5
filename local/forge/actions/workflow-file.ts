import { compileGlob } from '../globs.ts';
import { readYaml, type Yaml } from './yaml.ts';

export interface WorkflowStep {
  readonly name: string;
  /** Null: a step that only uses an action. */
  readonly run: string | null;
  readonly uses: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string | null;
}

export interface WorkflowJob {
  readonly id: string;
  readonly name: string;
  readonly runsOn: readonly string[];
  /** Its condition says `false` outright. No other condition is read. */
  readonly isOff: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly steps: readonly WorkflowStep[];
}

export interface Workflow {
  /** Path from the folder that workflows are read from. */
  readonly file: string;
  /** Empty: it has none. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Branch patterns of `on: push`; null when a push starts nothing. Empty: every branch. */
  readonly pushBranches: readonly string[] | null;
  readonly ignoredBranches: readonly string[];
  readonly jobs: readonly WorkflowJob[];
}

/** Throws `YamlError` on text that is not a workflow. */
export function readWorkflow(file: string, source: string): Workflow {
  const root = mapOf(readYaml(source));
  const push = pushTrigger(root.on ?? root.true ?? null);
  return {
    file,
    name: text(root.name) ?? '',
    env: envOf(root.env),
    pushBranches: push === null ? null : push.branches,
    ignoredBranches: push?.ignored ?? [],
    jobs: Object.entries(mapOf(root.jobs)).map(([id, job]) => readJob(id, mapOf(job))),
  };
}

export function startsOnPush(workflow: Workflow, branch: string): boolean {
  if (workflow.pushBranches === null) return false;
  const matches = (pattern: string): boolean => compileGlob(pattern, { separator: true }).test(branch);
  if (workflow.ignoredBranches.some(matches)) return false;
  if (workflow.pushBranches.length === 0) return true;
  // As the forge's filter: a pattern with `!` takes back what an earlier one gave.
  return workflow.pushBranches.reduce(
    (selected, pattern) =>
      pattern.startsWith('!') ? selected && !matches(pattern.slice(1)) : selected || matches(pattern),
    false,
  );
}

/** Every job of it is skipped. */
export function isAllOff({ jobs }: Workflow): boolean {
  return jobs.length > 0 && jobs.every((job) => job.isOff);
}

function pushTrigger(on: Yaml): { branches: readonly string[]; ignored: readonly string[] } | null {
  if (typeof on === 'string') return on === 'push' ? { branches: [], ignored: [] } : null;
  if (Array.isArray(on)) return on.includes('push') ? { branches: [], ignored: [] } : null;
  const events = mapOf(on);
  if (!('push' in events)) return null;
  const push = mapOf(events.push ?? null);
  return { branches: listOf(push.branches), ignored: listOf(push['branches-ignore']) };
}

function readJob(id: string, job: Readonly<Record<string, Yaml>>): WorkflowJob {
  const steps = job.steps;
  return {
    id,
    name: text(job.name) ?? id,
    runsOn: typeof job['runs-on'] === 'string' ? [job['runs-on']] : listOf(job['runs-on']),
    isOff: /^(false|\$\{\{ *false *\}\})$/.test(text(job.if) ?? ''),
    env: envOf(job.env),
    steps: (Array.isArray(steps) ? steps : []).map((step: Yaml, at) => {
      const fields = mapOf(step);
      const run = text(fields.run);
      const uses = text(fields.uses);
      return {
        name: text(fields.name) ?? run?.split('\n')[0] ?? uses ?? `step ${at + 1}`,
        run,
        uses,
        env: envOf(fields.env),
        workingDirectory: text(fields['working-directory']),
      };
    }),
  };
}

function mapOf(value: Yaml | undefined): Readonly<Record<string, Yaml>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Readonly<Record<string, Yaml>>)
    : {};
}

function listOf(value: Yaml | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];
}

function text(value: Yaml | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function envOf(value: Yaml | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(mapOf(value)).map(([name, entry]) => [name, text(entry) ?? '']));
}
