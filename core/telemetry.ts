import type { Log } from './ports/system.ts';
import { Secret } from './secret.ts';

export interface LogOptions {
  readonly service: string;
  /** Where a finished line goes. @default stdout */
  readonly write?: (line: string) => void;
  /** Wall clock in epoch ms. @default Date.now */
  readonly now?: () => number;
}

const LEVELS = ['info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

/** A field with such a name is dropped whole, at any depth: its value is not worth the risk (A95). */
const DENIED_NAME = /authorization|cookie|token|ticket|secret|key|signature|password|credential/i;
/** Names that match the rule above and hold nothing secret. */
const ALLOWED_NAMES: ReadonlySet<string> = new Set(['key_version']);
const DEPTH_MAX = 4;
const ENTRIES_MAX = 50;
const TEXT_CHARS_MAX = 500;

/** One JSON object per line: `level`, `time`, `service`, `message`, then the fields. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => process.stdout.write(`${line}\n`));
  const now = options.now ?? Date.now;
  const emit = (level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const head = { level, time: new Date(now()).toISOString(), service: options.service, message };
    write(JSON.stringify({ ...redactFields(fields, 0), ...head }));
  };
  return {
    info: (message, fields) => emit('info', message, fields),
    warn: (message, fields) => emit('warn', message, fields),
    error: (message, fields) => emit('error', message, fields),
  };
}

function redactFields(fields: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields).slice(0, ENTRIES_MAX)) {
    if (DENIED_NAME.test(name) && !ALLOWED_NAMES.has(name)) continue;
    kept[name] = redactValue(fields[name], depth + 1);
  }
  return kept;
}

function redactValue(value: unknown, depth: number): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'string') return scrubText(value).slice(0, TEXT_CHARS_MAX);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Secret) return value.toJSON();
  if (value instanceof Error) return describeError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (typeof value !== 'object' || depth > DEPTH_MAX || ArrayBuffer.isView(value)) return '[omitted]';
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map((entry) => redactValue(entry, depth + 1));
  return redactFields({ ...value }, depth);
}

/** Second net, for a credential inside a harmless-looking text: URL userinfo and authorization values. */
function scrubText(text: string): string {
  return text
    .replace(/\/\/[^/@\s]*@/g, '//[redacted]@')
    .replace(/\b(bearer|basic|token)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]');
}

/** Name and kind only: a foreign message may quote a request, and a stack repeats the message. */
function describeError(error: Error): Record<string, unknown> {
  const kind = 'kind' in error && typeof error.kind === 'string' ? { kind: error.kind } : {};
  const operation = 'operation' in error && typeof error.operation === 'string' ? error.operation : undefined;
  // Of the disk or the network, such as ENOSPC.
  const code =
    'syscall' in error && 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const where = error.stack
    ?.split('\n')
    .find((line) => /^\s+at /.test(line))
    ?.trim();
  return { name: error.name, ...kind, ...code, ...(operation === undefined ? {} : { operation }), where };
}
