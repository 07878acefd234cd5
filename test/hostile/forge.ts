import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOT, createFakeForge, defaultSeed } from '../../local/forge/fake-forge.ts';
import { profileOf } from '../../local/forge/profiles.ts';
import { startLoopbackHttps } from '../support/loopback-https.ts';
import { ATTACKS } from './attacks.ts';
import type { Party } from './engine.ts';
import { WRITINGS, type Writing } from './patterns.ts';

/** What the engine is told of a forge beside the names of its repositories. */
export type HostileForge = Pick<Party, 'origin' | 'host' | 'caPem' | 'token'>;

/** Longer than the whole run. */
const GATE_MS = 3_600_000;

async function startWritten({ write, lie }: Writing): Promise<HostileForge> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mergeyard-written-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  // The first of the repositories that the engine looks at.
  const seed = { ...defaultSeed(profileOf('fj15')), name: 'app-0' };
  const forge = createFakeForge({ dataDir, knobs: { gate: 'judge' }, seed });
  const { httpUrl, httpsUrl, caFile } = await forge.start();
  forge.control.gateDurationMs = GATE_MS;
  const [gitDir = ''] = readdirSync(join(dataDir, 'repositories'));
  await write(forge.control, join(dataDir, 'repositories', gitDir));
  await forge.settle();
  const token = forge.addToken(BOT);
  if (lie !== undefined) return { ...(await startLiar(httpUrl, lie)), token };
  return {
    origin: httpsUrl,
    host: new URL(httpsUrl).host,
    caPem: readFileSync(caFile, 'utf8'),
    token,
  };
}

/** Hands answers on with what the forge lies about; all repositories of the tenant are the one that was written. */
async function startLiar(
  httpUrl: string,
  lie: (path: string, body: string) => string,
): Promise<Omit<HostileForge, 'token'>> {
  return startLoopbackHttps(async (request, response) => {
    const asked = request.url ?? '/';
    const slug = /acme\/app-\d+/.exec(asked)?.[0] ?? 'acme/app-0';
    const path = asked.replace(slug, 'acme/app-0');
    const { method = 'GET', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const answer = await fetch(new URL(path, httpUrl), {
      method,
      headers: { authorization, 'content-type': type },
      redirect: 'manual',
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    const body = lie(path, await answer.text()).replaceAll('acme/app-0', slug);
    const kept = [...answer.headers].filter(
      ([name]) => !/^(content-length|transfer-encoding|connection|date|keep-alive)$/.test(name),
    );
    response.writeHead(answer.status, Object.fromEntries(kept)).end(body);
  });
}

async function start(name: string): Promise<HostileForge> {
  const writing = WRITINGS.find((each) => each.name === name);
  if (writing !== undefined) return startWritten(writing);
  const attack = ATTACKS.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`no attack is called ${name}`);
  const { origin, host, caPem } = await startLoopbackHttps((request, response) =>
    attack.answer(request, response),
  );
  return { origin, host, caPem, token: 't' };
}

/** The hostile forge as a process of its own: what it spends is not the engine's. */
process.once('message', async (name: string) => {
  process.send?.(await start(name));
});
