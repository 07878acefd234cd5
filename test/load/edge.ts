import { createHmac } from 'node:crypto';
import { parseHubSignature } from '#core/contracts/webhooks/hub-signature.ts';
import { Secret } from '#core/secret.ts';
import { issueTicket } from '#core/services/realtime/tickets.ts';
import { eventually } from '../support/eventually.ts';
import { Client, RealtimeWorld } from '../support/realtime-world.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { percentile, type Row } from './row.ts';

const FLIPS = 1_000_000;

/** One bit of the body or of the signature, anywhere (A102). */
export async function flipBits(): Promise<Row> {
  const random = createSeededRandom(102);
  const secret = new Secret('hook-secret-of-acme');
  const text = JSON.stringify({
    ref: 'refs/heads/main',
    sender: { login: 'dev' },
    repository: { full_name: 'acme/app', html_url: 'https://forge.example/acme/app' },
  });
  const digest = (body: Uint8Array) => createHmac('sha256', secret.reveal()).update(body).digest();
  const body = Buffer.from(text);
  const header = `sha256=${digest(body).toString('hex')}`;
  const accepts = (given: string, bytes: Uint8Array): boolean =>
    parseHubSignature(given)?.matches(secret, bytes) === true;
  let accepted = 0;
  const flip = (bytes: Buffer): void => {
    const bit = random.int(bytes.length * 8);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  };
  for (let count = 0; count < FLIPS; count += 1) {
    const altered = Buffer.from(count % 2 === 0 ? body : Buffer.from(header));
    flip(altered);
    if (count % 2 === 0 ? accepts(header, altered) : accepts(altered.toString('latin1'), body)) accepted += 1;
  }
  return {
    row: `${FLIPS} one-bit flips of signed deliveries`,
    goal: '0 accepted, the unchanged one accepted',
    measured: `${accepted} accepted`,
    ok: accepted === 0 && accepts(header, body),
  };
}

const TENANTS = 20;
const SOCKETS_PER_TENANT = 10;
const ROUNDS = 5;

/** Dashboards of twenty tenants; a change of one is told to its own sockets and to no others (A87). */
export async function sockets(): Promise<Row> {
  const world = await RealtimeWorld.open();
  try {
    const clients: Client[][] = [];
    for (let tenant = 0; tenant < TENANTS; tenant += 1) {
      const own: Client[] = [];
      for (let count = 0; count < SOCKETS_PER_TENANT; count += 1) {
        const ticket = await issueTicket(world, `tenant-${tenant}`);
        const client = await world.connect(`?ticket=${ticket}`);
        if (!(client instanceof Client)) throw new Error(`refused with ${client.status}`);
        own.push(client);
      }
      clients.push(own);
    }
    const times: number[] = [];
    let strangers = 0;
    for (let round = 0; round < TENANTS * ROUNDS; round += 1) {
      const tenant = round % TENANTS;
      const before = clients.map((own) => own.map(({ messages }) => messages.length));
      const started = performance.now();
      await world.store.savePlan(`tenant-${tenant}`, { tier: 'pro', status: 'active' });
      await eventually('a ping on each socket of the tenant', 10_000, async () =>
        (clients[tenant] ?? []).every(
          ({ messages }, index) => messages.length > (before[tenant]?.[index] ?? 0),
        ),
      );
      times.push(performance.now() - started);
      clients.forEach((own, other) => {
        if (other === tenant) return;
        own.forEach(({ messages }, index) => {
          strangers += messages.length - (before[other]?.[index] ?? 0);
        });
      });
      await world.clock.advance(10_000);
    }
    const p99 = percentile(times, 0.99);
    return {
      row: `${TENANTS * SOCKETS_PER_TENANT} sockets of ${TENANTS} tenants, ${TENANTS * ROUNDS} changes`,
      goal: 'every socket of the tenant told, p99 < 1 s, no other tenant told',
      measured: `p99 ${p99.toFixed(0)} ms, ${strangers} told to strangers`,
      ok: p99 < 1_000 && strangers === 0,
    };
  } finally {
    await world.stop();
  }
}
