import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import { Pace } from '#core/domain/effort.ts';
import type { BlobId } from '#core/domain/ids.ts';
import { byPath, type FileVersion, type PathChange, SUBMODULE_MODE } from './path-change.ts';

/** Contents that the forge may not have, by blob id; undefined = it has them. */
export type ContentSource = (id: BlobId) => Buffer | undefined;

/**
 * A patch for the forge's `git apply --index --binary -3`: paths, modes and full object ids. Git takes contents from the
 * object store by their id; only those that a merge of ours made are in the patch, as binary literals, so there is no text
 * that the forge's `--whitespace=fix` could alter (forge facts, 6.2). Ends in a newline; empty for no changes, which git
 * refuses: do not send that.
 */
export async function renderPatch(
  changes: readonly PathChange[],
  contentOf: ContentSource = () => undefined,
): Promise<string> {
  const sorted = changes.flatMap(splitTypeChange).sort(byPath);
  const deletions = sorted.filter((change) => change.to === null);
  const others = sorted.filter((change) => change.to !== null);
  const pace = new Pace();
  const sections: string[] = [];
  for (const change of [...deletions, ...others]) {
    const content = change.to === null ? undefined : contentOf(change.to.id);
    pace.walk(SECTION_STEPS + BYTE_STEPS * (content?.length ?? 0));
    // All others have a turn: contents of a whole batch take seconds.
    if (pace.isTurnDue()) await setImmediate();
    sections.push(renderSection(change, content === undefined ? null : await pack(content)));
  }
  return sections.join('');
}

/** Steps of one file of a patch, and those of each byte that is in it. */
const SECTION_STEPS = 50;
const BYTE_STEPS = 2;
/** Longer contents are packed beside the thread of all tenants. */
const PACKED_AT_ONCE_BYTES_MAX = 256 * 1024;

interface Packed {
  readonly length: number;
  readonly bytes: Buffer;
}

async function pack(content: Buffer): Promise<Packed> {
  const { length } = content;
  const bytes = length > PACKED_AT_ONCE_BYTES_MAX ? await deflateAside(content) : deflateSync(content);
  return { length, bytes };
}

const deflateAside = promisify<Buffer, Buffer>(deflate);

/** Git knows no change of type, only the removal of one thing and the creation of another. */
function splitTypeChange(change: PathChange): readonly PathChange[] {
  const { from, to, path } = change;
  if (from === null || to === null || typeOf(from) === typeOf(to)) return [change];
  return [
    { path, from, to: null },
    { path, from: null, to },
  ];
}

/** The file-type bits of a mode: 100 regular, 120 symlink, 160 submodule. */
function typeOf(version: FileVersion): string {
  return version.mode.slice(0, 3);
}

function renderSection(change: PathChange, packed: Packed | null): string {
  const { from, to, path } = change;
  const oldName = quoteName(`a/${path}`);
  const newName = quoteName(`b/${path}`);
  const lines = [`diff --git ${oldName} ${newName}`];
  if (from === null && to !== null) lines.push(`new file mode ${to.mode}`);
  else if (to === null && from !== null) lines.push(`deleted file mode ${from.mode}`);
  else if (from !== null && to !== null && from.mode !== to.mode) {
    lines.push(`old mode ${from.mode}`, `new mode ${to.mode}`);
  }
  if (from?.id !== to?.id) {
    lines.push(renderIndexLine(from, to));
    const left = from === null ? '/dev/null' : oldName;
    const right = to === null ? '/dev/null' : newName;
    if ((from ?? to)?.mode === SUBMODULE_MODE) lines.push(...renderSubmoduleHunk(left, right, from, to));
    else if (packed !== null) lines.push(...renderLiteral(packed));
    else lines.push(`Binary files ${left} and ${right} differ`);
  }
  return `${lines.join('\n')}\n`;
}

function renderIndexLine(from: FileVersion | null, to: FileVersion | null): string {
  const absent = '0'.repeat((from ?? to)?.id.length ?? 0);
  const mode = from !== null && to !== null && from.mode === to.mode ? ` ${to.mode}` : '';
  return `index ${from?.id ?? absent}..${to?.id ?? absent}${mode}`;
}

/** A submodule has no blob: git takes its commit from the text of the hunk. */
function renderSubmoduleHunk(
  left: string,
  right: string,
  from: FileVersion | null,
  to: FileVersion | null,
): readonly string[] {
  return [
    `--- ${left}`,
    `+++ ${right}`,
    `@@ -${from === null ? '0,0' : '1'} +${to === null ? '0,0' : '1'} @@`,
    ...(from === null ? [] : [`-Subproject commit ${from.id}`]),
    ...(to === null ? [] : [`+Subproject commit ${to.id}`]),
  ];
}

/** Bytes of the packed content that one line holds. */
const LITERAL_LINE_BYTES = 52;
const BASE85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

/** Git's binary literal: packed, in base 85, each line led by its length, and an empty line at the end. */
function renderLiteral({ length: contentLength, bytes: packed }: Packed): readonly string[] {
  const lines = Math.ceil(packed.length / LITERAL_LINE_BYTES);
  // One buffer for all: megabytes that were made piece by piece hold up all others in the engine.
  const text = Buffer.alloc(lines * 2 + 5 * Math.ceil(packed.length / 4));
  let end = 0;
  for (let at = 0; at < packed.length; at += LITERAL_LINE_BYTES) {
    const length = Math.min(LITERAL_LINE_BYTES, packed.length - at);
    text[end] = length <= 26 ? 64 + length : 96 + length - 26;
    end = writeBase85(packed, at, at + length, text, end + 1);
    text[end] = LINE_FEED;
    end += 1;
  }
  return ['GIT binary patch', `literal ${contentLength}`, text.toString('latin1', 0, end)];
}

const LINE_FEED = 10;

/** Four bytes are five digits; the last group is filled up with zero bytes. Returns where the text ends. */
function writeBase85(bytes: Buffer, from: number, to: number, text: Buffer, start: number): number {
  let end = start;
  for (let at = from; at < to; at += 4) {
    let value = 0;
    for (let nth = 0; nth < 4; nth += 1) value = value * 256 + (at + nth < to ? (bytes[at + nth] ?? 0) : 0);
    for (let digit = 4; digit >= 0; digit -= 1) {
      text[end + digit] = BASE85.charCodeAt(value % 85);
      value = Math.floor(value / 85);
    }
    end += 5;
  }
  return end;
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};

/** Git's c-style quoting, byte by byte. A space needs it too here: git splits an unquoted header line at spaces. */
export function quoteName(name: string): string {
  if (/^[\x21\x23-\x5b\x5d-\x7e]*$/.test(name)) return name;
  const quoted = [...Buffer.from(name)].map((byte) => {
    const char = String.fromCharCode(byte);
    const named = NAMED_ESCAPES[char];
    if (named !== undefined) return named;
    return byte < 0x20 || byte >= 0x7f ? `\\${byte.toString(8).padStart(3, '0')}` : char;
  });
  return `"${quoted.join('')}"`;
}
