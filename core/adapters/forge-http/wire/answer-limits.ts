import { FORGE_ANSWER_DEPTH_MAX, FORGE_ANSWER_VALUES_MAX } from '#core/domain/limits.ts';
import type { StringCut } from '../../http-guard/cut-strings.ts';

const MIB = 1024 * 1024;

/** The most that one page of texts can need: 50 rows with 64 KB of text in each, and what stands around them. */
const PAGE_OF_TEXTS_BYTES_MAX = 8 * MIB;
/** Bytes of all other answers: single objects and pages of short rows. */
const ANSWER_BYTES_MAX = 2 * MIB;

/** Accounts of a list that has no pages. */
export const ASSIGNEES_MAX = 20_000;
/** Bytes of one account in that list: a real one had 530, with a short name and without a description. */
const ASSIGNEE_BYTES = 800;
/** Values of one account in that list, with what stands around it: a real one had 25. */
const ASSIGNEE_VALUES = 30;

/** Calls whose answers may be larger, by label. The limit is what an honest forge can need, not what one has memory for. */
const LARGER_ANSWERS: Readonly<Record<string, number>> = {
  'GET pulls': PAGE_OF_TEXTS_BYTES_MAX,
  'GET pulls (touched)': PAGE_OF_TEXTS_BYTES_MAX,
  'GET pulls (merged)': PAGE_OF_TEXTS_BYTES_MAX,
  'GET issues/{n}/timeline': PAGE_OF_TEXTS_BYTES_MAX,
  'GET pulls/{n}/reviews': PAGE_OF_TEXTS_BYTES_MAX,
  'GET commits?not': PAGE_OF_TEXTS_BYTES_MAX,
  'GET issues/{n}/dependencies': PAGE_OF_TEXTS_BYTES_MAX,
  // All who may be given work, in one answer without pages.
  'GET assignees': ASSIGNEES_MAX * ASSIGNEE_BYTES,
  'GET user/repos': 4 * MIB,
  'GET statuses/{sha}': 4 * MIB,
  'GET commits/{sha}/status': 4 * MIB,
  'GET actions/runs': 4 * MIB,
  'GET actions/workflows/{file}/runs': 4 * MIB,
  'GET actions/tasks': 4 * MIB,
  // A forge that gives no end of a log alone gives all of it.
  'GET actions/jobs/{id}/logs': 16 * MIB,
  // A thousand entries with names of up to 4,096 bytes.
  'GET git/trees/{sha}': 8 * MIB,
  // The 10 MiB that forges hand out at most, in base64; one string, which is cheap to parse.
  'GET git/blobs/{sha}': 14 * MIB,
};

/** Bytes of a listing as a forge sends it, with all that people wrote. */
const SENT_BYTES_MAX = 32 * MIB;
/**
 * Cut of long texts, beyond a title, a name or a link. No forge limits descriptions, comments and messages of commits.
 */
const PROSE: StringCut = { keepBytes: 4096, sentBytesMax: SENT_BYTES_MAX };
/**
 * Bytes of the body of a push entry that are kept: the ids of 2,800 commits. A longer push reads as one of an unknown
 * head; a comment may begin as a push does.
 */
const PUSH_BYTES_MAX = 128 * 1024;

/** Calls whose answers hold texts that people wrote, of which the queue reads nothing beyond their first bytes. */
const CUT_ANSWERS: Readonly<Record<string, StringCut>> = {
  'GET pulls': PROSE,
  'GET pulls (touched)': PROSE,
  'GET pulls (merged)': PROSE,
  'GET pulls/{n}': PROSE,
  // The entry of a push is JSON in a string, with the ids of all its commits.
  'GET issues/{n}/timeline': { ...PROSE, whole: { from: '{', bytesMax: PUSH_BYTES_MAX } },
  'GET pulls/{n}/reviews': PROSE,
  'GET commits?not': PROSE,
  'GET issues/{n}/dependencies': PROSE,
  // The forge gives back what was sent.
  'POST contents': PROSE,
  // Forgejo tells with each run the event that began it: messages and files of up to five commits, and of the newest once more.
  'GET actions/runs': PROSE,
};

/** How the long strings of an answer to this call are cut; undefined: all of it is needed. */
export function answerCut(label: string): StringCut | undefined {
  return CUT_ANSWERS[label];
}

/** Bytes that the body of an answer to this call may have. */
export function answerBytesMax(label: string): number {
  return LARGER_ANSWERS[label] ?? ANSWER_BYTES_MAX;
}

/** Values that an answer to this call may have. */
export function answerValuesMax(label: string): number {
  return label === 'GET assignees' ? ASSIGNEES_MAX * ASSIGNEE_VALUES : FORGE_ANSWER_VALUES_MAX;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Whether a JSON text has no more values and no deeper nesting than any answer of a forge. Looked at before it is parsed:
 * a few megabytes of empty brackets become a hundred times as much memory, and hold up all other tenants meanwhile.
 */
export function isBoundedJson(body: Buffer, valuesMax: number = FORGE_ANSWER_VALUES_MAX): boolean {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number;
    if (byte === QUOTE) {
      at = endOfString(body, at);
    } else if (byte === COMMA) {
      values += 1;
    } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      depth += 1;
      values += 1;
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) depth -= 1;
    if (depth > FORGE_ANSWER_DEPTH_MAX || values > valuesMax) return false;
  }
  return true;
}

/** Index of the closing quote; the end of the text where there is none. */
function endOfString(body: Buffer, start: number): number {
  let at = body.indexOf(QUOTE, start + 1);
  while (at !== -1 && isEscaped(body, at)) at = body.indexOf(QUOTE, at + 1);
  return at === -1 ? body.length : at;
}

/** Whether a quote is escaped: an odd number of backslashes stands before it. */
function isEscaped(body: Buffer, at: number): boolean {
  let slashes = 0;
  while (body[at - 1 - slashes] === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}
