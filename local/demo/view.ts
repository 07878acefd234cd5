import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';

/** Turns what changed since the last look into lines a person enjoys reading. */
export class StoryTeller {
  readonly #say: (line: string) => void;
  readonly #told = new Set<string>();
  readonly #outcomes = new Map<string, string>();
  #eventsTold = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Rows and events newest first, as the store has them. */
  tell(rows: readonly NodeRow[], events: readonly ActivityEvent[]): void {
    for (const row of [...rows].reverse()) this.#tellRow(row);
    const fresh = events.slice(0, events.length - this.#eventsTold).reverse();
    this.#eventsTold = events.length;
    for (const event of fresh) this.#tellEvent(event);
  }

  #tellRow(row: NodeRow): void {
    const state = `${row.outcome} ${row.phase ?? ''} ${row.attempt}`;
    if (this.#outcomes.get(row.id) === state) return;
    this.#outcomes.set(row.id, state);
    const name = `${row.batchId.slice(0, 8)} ${row.nodeId}`;
    const members = row.prs.length === 0 ? 'the bare base' : row.prs.map((pr) => `#${pr}`).join(' ');
    if (row.outcome === 'running' && row.phase === 'waiting_gate') {
      const why =
        row.nodeId === 'b'
          ? 'does the base itself pass? Gate running'
          : row.attempt > 1
            ? 'failed; a second gate run confirms before a pull request is blamed'
            : row.nodeId !== 'r'
              ? 'staged on everything before it; gate running'
              : row.stagingBranch === null
                ? 'staged as one batch; the gate run of the batch on top of it judges both'
                : `staged as one batch on ${row.stagingBranch}; gate running`;
      this.#say(`${cyan('◆')} ${name}  ${members}: ${why}`);
    } else if (row.outcome === 'running')
      this.#once(`${row.id} proven`, `${good('●')} ${name}  ${members}: gate passed; landing one by one`);
    else if (row.outcome === 'bisected') this.#say(`${yellow('✂')} ${name}  ${members}: gate failed; split`);
    else if (row.outcome === 'invalidated')
      this.#say(
        `${yellow('↻')} ${name}  ${members}: ${row.terminalReason === 'base_advanced' ? 'the base moved' : 'a member changed'}; staged again without it`,
      );
    else if (row.outcome === 'superseded')
      this.#say(`${dim('·')} ${dim(`${name}  ${members}: not needed any more`)}`);
    else if (row.outcome === 'held_failure' && row.gateSource === 'cached')
      this.#say(
        `${dim('·')} ${dim(`${name}  ${members}: verdict known from the gate run of the whole batch`)}`,
      );
    else if (row.outcome === 'error')
      this.#say(`${yellow('!')} ${name}  ${members}: ${row.terminalReason ?? 'tried again'}`);
  }

  #tellEvent(event: ActivityEvent): void {
    const subject = `#${event.pr} ${event.title}`;
    if (event.event === 'pr_landed') this.#say(`${good('✔')} ${bold(subject)} landed`);
    else if (event.event === 'pr_bounced')
      this.#say(`${alarm('✘')} ${bold(subject)} bounced: fails with it, passes without it`);
    else if (event.event === 'pr_skipped')
      this.#say(`${yellow('→')} ${bold(subject)} left the queue: ${words(event.reason)}`);
    else if (event.event === 'pr_refused')
      this.#say(`${yellow('⚑')} ${bold(subject)} refused: ${words(event.reason)}`);
    else if (event.event === 'pr_requeued' && event.reason === 'head_changed')
      this.#say(`${yellow('↻')} ${bold(subject)}: its head changed; it keeps its place`);
  }

  #once(key: string, line: string): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#say(line);
  }
}

function words(reason: string | null): string {
  return (reason ?? 'no reason given').replace(/_/g, ' ');
}

const colours = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint(1);
export const dim = paint(2);
export const alarm = paint(31);
export const good = paint(32);
const yellow = paint(33);
const cyan = paint(36);

/** Plain text table; cells are cut to keep a row on one line. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
): string {
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cutTo(cell, widths[index] ?? 12))
      .join('  ')
      .trimEnd();
  return [bold(line(head)), ...rows.map(line)].join('\n');
}

function cutTo(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}
