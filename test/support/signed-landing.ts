import { generateKeyPairSync, sign } from 'node:crypto';
import { keyIdOf, signedBytes } from '#core/contracts/evidence/dsse.ts';
import {
  type LandingStatement,
  PAYLOAD_TYPE,
  toLandingStatement,
} from '#core/contracts/evidence/evidence.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import { verify } from '../../cli/evidence.ts';
import { givenNodeRow } from '../builders/store-rows.ts';

export const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString();
export const id = (digit: string): string => digit.repeat(40);
export const [BASE, HEAD, TREE, MERGE] = [id('0'), id('1'), id('2'), id('3')] as const;

export function statementOf(changes: Partial<Receipt> = {}): LandingStatement {
  const receipt: Receipt = {
    baseBefore: BASE,
    head: HEAD,
    stagedSha: id('a'),
    gatedTree: TREE,
    tree: TREE,
    runUrl: 'https://f/1',
    mergeCommit: MERGE,
    landedAt: Date.UTC(2026, 10, 23),
    scheduledBy: 'ada',
    approvedBy: ['bob'],
    ...changes,
  };
  const repo = { instanceUrl: 'https://forge.example.org', slug: 'acme/app', baseBranch: 'main' };
  return toLandingStatement(repo, { pr: 7, receipt, row: givenNodeRow(), judged: [{ pr: 7, head: HEAD }] });
}

export function seal(statement: unknown, payloadType = PAYLOAD_TYPE): string {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = sign('sha256', signedBytes(payloadType, payload), privateKey).toString('base64');
  return JSON.stringify({
    payloadType,
    payload: payload.toString('base64'),
    signatures: [{ keyid: keyIdOf(publicKey), sig }],
  });
}

/** A clone as git would tell of it. */
export interface Clone {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly history: readonly string[];
}
export const CLONE: Clone = { tree: TREE, parents: [BASE, HEAD], history: [BASE, HEAD] };

export const gitOf =
  ({ tree, parents, history }: Clone) =>
  async (args: readonly string[]): Promise<string | null> => {
    const last = args.at(-1) ?? '';
    if (args[0] === 'merge-base') return history.includes(args[2] ?? '') ? '' : null;
    if (args[0] === 'rev-list') return [MERGE, ...parents].join(' ');
    if (last.endsWith('^{tree}')) return tree;
    return ['HEAD^{commit}', `${MERGE}^{commit}`].includes(last) ? MERGE : null;
  };

/** Runs `mergeyard verify HEAD` on it. */
export async function check(envelope: string, clone: Clone = CLONE, key = PEM) {
  const out: string[] = [];
  const machine = { readGit: gitOf(clone), print: (line: string) => void out.push(line) };
  const code = await verify({ machine, json: false, quiet: false }, 'HEAD', { envelope, key });
  return { code, out };
}

/** Bits of the envelope, of which one was changed at a time, that made no difference. */
export async function findDeafBits(step: number): Promise<readonly string[]> {
  const bytes = Buffer.from(seal(statementOf()));
  const deaf: string[] = [];
  for (let at = 0; at < bytes.length * 8; at += step) {
    const changed = Buffer.from(bytes);
    changed[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7));
    if ((await check(changed.toString())).code !== 1) deaf.push(`bit ${at & 7} of byte ${at >> 3}`);
  }
  return deaf;
}
