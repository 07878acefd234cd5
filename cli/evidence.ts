import { readFileSync } from 'node:fs';
import { sayApprovers } from '#core/contracts/evidence/approvals-text.ts';
import { Envelope, keyIdOf, openEnvelope, readPublicKey } from '#core/contracts/evidence/dsse.ts';
import { LandingStatement, PAYLOAD_TYPE } from '#core/contracts/evidence/evidence.ts';
import { ApiError } from '#core/contracts/routes/client.ts';
import { type Asked, EXIT, emit, type Printing, type Repo } from './asked.ts';
import { type Call, findRepo, logIn } from './call.ts';
import { type Machine, Misuse } from './context.ts';
import { Refusal } from './refusal.ts';
import { plain, toJsonLine } from './values.ts';

/** Full id of a commit of the local clone. */
export async function readCommit({ readGit }: Git, name: string): Promise<string> {
  const commit = await readGit(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  if (commit === null) throw new Misuse(`${plain(name)} is no commit of the git repository in this folder.`);
  return commit;
}

/** Prints the signed statement of the landing that made this commit. */
export async function evidence(asked: Asked, repo: Repo, name: string): Promise<number> {
  const commit = await readCommit(asked.machine, name);
  const envelope = await readEnvelope(asked, repo, commit);
  emit(asked, envelope, () => [toJsonLine(envelope)]);
  return EXIT.ok;
}

/** Prints the public key of the service: keep it, and statements are verified without the service. */
export async function evidenceKey(asked: Asked): Promise<number> {
  const key = await asked.api.readEvidenceKey();
  emit(asked, key, () => key.public_key.trimEnd().split('\n'));
  return EXIT.ok;
}

type Git = Pick<Machine, 'readGit'>;

/** The envelope and the PEM of the key, as text. */
export interface Proof {
  readonly envelope: string;
  readonly key: string;
}

/** Reads a text file in UTF-8, or in UTF-16 with a byte order mark, which `>` of a Windows shell writes. */
export function readFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    throw new Misuse(`${plain(path)} cannot be read.`);
  }
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/**
 * Takes the statement and the key each from its file, where the call names one, and else from the service. With both
 * files the service is not asked, and no login is needed.
 */
export async function gatherProof(call: Call, name: string): Promise<Proof> {
  const { evidence: envelopeFile, key: keyFile } = call.options;
  return {
    envelope: envelopeFile === undefined ? await fetchEnvelope(call, name) : readFile(envelopeFile),
    key: keyFile === undefined ? await fetchKey(call) : readFile(keyFile),
  };
}

async function fetchEnvelope(call: Call, name: string): Promise<string> {
  const { asked } = logIn(call);
  const commit = await readCommit(call.machine, name);
  const repo = await findRepo(asked, call.options);
  return JSON.stringify(await readEnvelope(asked, repo, commit));
}

/** The repository was found before, so that what is not found is the landing: the refusal says so. */
async function readEnvelope({ api }: Asked, repo: Repo, commit: string): Promise<Envelope> {
  try {
    return await api.readCommitEvidence({ id: repo.id, query: { commit } });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
    const message = `The queue of ${repo.name} ${repo.base_branch} knows no landing that made the commit ${commit}.`;
    throw new Refusal(error, message, NO_LANDING_STEP);
  }
}

const NO_LANDING_STEP =
  'Name the commit that the forge made of the pull request on the base branch. One that came past the queue has no statement, and one of long ago may be behind what the service looks through.';

async function fetchKey(call: Call): Promise<string> {
  const { public_key } = await logIn(call).asked.api.readEvidenceKey();
  return public_key;
}

interface Verdict {
  readonly verified: boolean;
  readonly commit: string;
  readonly keyid: string | null;
  /** Why the statement does not hold; null: it holds. */
  readonly fault: string | null;
  readonly statement: LandingStatement | null;
  /** Facts that the signature alone says, because the clone cannot show them. */
  readonly notes: readonly string[];
}

/** Checks a statement about this commit against the key and against the local clone. No network is used here. */
export async function verify(
  asked: Printing & { readonly machine: Git },
  name: string,
  { envelope, key }: Proof,
): Promise<number> {
  const commit = await readCommit(asked.machine, name);
  const verdict = await judge(asked.machine, commit, envelope, key);
  emit(asked, verdict, () => describe(verdict));
  return verdict.verified ? EXIT.ok : EXIT.fault;
}

async function judge(machine: Git, commit: string, text: string, pem: string): Promise<Verdict> {
  const publicKey = readPublicKey(pem);
  const keyid = publicKey === null ? null : keyIdOf(publicKey);
  const refuse = (fault: string, statement: LandingStatement | null = null): Verdict => ({
    verified: false,
    commit,
    keyid,
    fault,
    statement,
    notes: [],
  });
  if (publicKey === null) return refuse('The key is no public key on the curve P-256.');
  const envelope = parse(Envelope, text);
  if (envelope === null) return refuse('The file is no DSSE envelope.');
  const payload = openEnvelope(envelope, publicKey);
  if (payload === null) return refuse('The signature is not one of this key over this statement.');
  const statement =
    envelope.payloadType === PAYLOAD_TYPE ? parse(LandingStatement, payload.toString()) : null;
  if (statement === null)
    return refuse('What is signed is no statement of a landing that this version knows.');
  const { fault, notes } = await compare(machine, commit, statement);
  return fault === null
    ? { verified: true, commit, keyid, fault, statement, notes }
    : refuse(fault, statement);
}

/**
 * Compares the statement with the objects of the local clone. An object id names its content, so the clone need not be
 * trusted.
 */
async function compare(
  { readGit }: Git,
  commit: string,
  { subject, predicate: { merge, pull_request: pull, gate } }: LandingStatement,
): Promise<{ readonly fault: string | null; readonly notes: readonly string[] }> {
  const fail = (fault: string) => ({ fault, notes: [] });
  const [{ digest: ofMerge }, { digest: ofTree }] = subject;
  if (merge.commit !== ofMerge.gitCommit || merge.tree !== ofTree.gitTree)
    return fail('The statement contradicts itself about its subject.');
  if (merge.commit !== commit)
    return fail(`The statement is about ${merge.commit}, which is another commit.`);
  const tree = await readGit(['rev-parse', '--verify', '--quiet', `${commit}^{tree}`]);
  if (tree !== merge.tree) return fail(`The commit has the tree ${tree}, and ${merge.tree} was proven.`);
  const contains = async (ancestor: string): Promise<boolean> =>
    (await readGit(['merge-base', '--is-ancestor', ancestor, commit])) !== null;
  if (!(await contains(merge.base_before)))
    return fail(`The commit does not stand on ${merge.base_before}, or the clone does not have it.`);
  const parents = (await readGit(['rev-list', '--no-walk', '--parents', commit])) ?? '';
  const [, first, ...others] = parents.split(' ');
  if (others.length > 0 && first !== merge.base_before)
    return fail(`The commit merges into ${first}, and ${merge.base_before} was the base.`);
  if (others.length > 0 && !others.includes(pull.head))
    return fail(`The commit does not merge ${pull.head}, the head of the pull request.`);
  const isInHistory = others.length > 0 || (await contains(pull.head));
  return {
    fault: null,
    notes: [
      ...(isInHistory ? [] : [`head ${pull.head} was squashed or rebased: the signature alone names it`]),
      ...(gate.tree === null || gate.tree === merge.tree
        ? []
        : [
            `the gate run judged ${gate.tree}, the state after the last pull request of the batch; this tree is a step before it`,
          ]),
    ],
  };
}

function describe({ verified, commit, keyid, fault, statement, notes }: Verdict): readonly string[] {
  if (!verified || statement === null) return [`not verified: ${fault}`];
  const { merge, pull_request: pull, gate, repository } = statement.predicate;
  return [
    `verified: ${commit}`,
    `repository: ${plain(repository.name)} ${plain(repository.base_branch)}`,
    `pull request: #${pull.number} at ${pull.head}`,
    `scheduled by: ${plain(pull.scheduled_by ?? 'not known')}`,
    `approved by: ${plain(sayApprovers(pull.approved_by ?? null))}`,
    `tree: ${merge.tree}`,
    `gate: ${gate.verdict} ${plain(gate.run_url ?? 'without an address')}`,
    `landed: ${merge.landed_at}`,
    `key: ${keyid}`,
    ...notes.map((note) => `note: ${note}`),
  ];
}

function parse<T>(
  schema: { safeParse(value: unknown): { readonly success: boolean; readonly data?: T | undefined } },
  text: string,
): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
