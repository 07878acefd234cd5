import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as z from 'zod';

const CALL_ID = 2;
const COMPLAINT_CHARS_KEPT = 2_000;
const Answer = z.object({
  id: z.literal(CALL_ID),
  result: z.object({
    isError: z.boolean().default(false),
    content: z.array(z.object({ text: z.string().default('') })).default([]),
  }),
});

export interface ToolCall {
  readonly binary: string;
  /** The table's file, which another process may serve meanwhile. */
  readonly file: string;
  readonly tool: string;
  readonly arguments: object;
  readonly withinMs: number;
  /** Whether the database is opened to read alone. */
  readonly isReadOnly: boolean;
  /** Ends the database. */
  readonly signal?: AbortSignal;
}

/** Answer of a tool. `text` is null where it failed; `complaint` is then what the database printed about it. */
export interface ToolAnswer {
  readonly text: string | null;
  readonly complaint: string;
}

/** Calls one tool of the embedded database, in a process that speaks over its pipes alone. */
export async function callTool(call: ToolCall): Promise<ToolAnswer> {
  const flags = ['--db-path', call.file, ...(call.isReadOnly ? ['--read-only'] : [])];
  const child = spawn(call.binary, ['mcp', ...flags], {
    stdio: 'pipe',
    timeout: call.withinMs,
    killSignal: 'SIGKILL',
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
  let complaint = '';
  // A line may come in pieces, of which the last may be its end alone.
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARS_KEPT);
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  // A child that dies while it is written to, or is ended by the signal, is told of by its end.
  child.stdin.on('error', () => {});
  child.on('error', () => {});
  let answer: z.infer<typeof Answer>['result'] | null;
  try {
    answer = await readAnswer(child, call);
  } finally {
    child.stdin.end();
    await ended;
  }
  // The answers may end before the complaint is here; with the end of the process both are.
  const text = answer?.content.map((part) => part.text).join('') ?? '';
  return answer === null || answer.isError
    ? { text: null, complaint: text || complaint.trim() }
    : { text, complaint: complaint.trim() };
}

async function readAnswer(
  child: ChildProcessWithoutNullStreams,
  { tool, arguments: given }: ToolCall,
): Promise<z.infer<typeof Answer>['result'] | null> {
  const say = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const clientInfo = { name: 'mergeyard', version: '1' };
  const hello = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo };
  say({ id: CALL_ID - 1, method: 'initialize', params: hello });
  say({ method: 'notifications/initialized' });
  say({ id: CALL_ID, method: 'tools/call', params: { name: tool, arguments: given } });
  for await (const line of createInterface({ input: child.stdout })) {
    const answer = Answer.safeParse(readJson(line));
    if (answer.success) return answer.data.result;
  }
  return null;
}

export function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
