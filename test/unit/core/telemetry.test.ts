import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import { createLog } from '#core/telemetry.ts';

const CANARY = 'canary-3f9c1b7e5a2d4860';

function logged(fields: Record<string, unknown>): Record<string, unknown> {
  const lines: string[] = [];
  const log = createLog({ service: 'worker', write: (line) => lines.push(line), now: () => 0 });
  log.warn('engine unreachable', fields);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('\n');
  return JSON.parse(lines[0] ?? '');
}

describe('log (A95)', () => {
  test('writes one JSON line with level, time, service, message and fields', () => {
    expect(logged({ repo_id: 'r', attempt: 2, ok: false, url: null })).toEqual({
      level: 'warn',
      time: '1970-01-01T00:00:00.000Z',
      service: 'worker',
      message: 'engine unreachable',
      repo_id: 'r',
      attempt: 2,
      ok: false,
      url: null,
    });
  });

  test.each([
    'authorization',
    'Authorization',
    'x-admin-key',
    'set-cookie',
    'forge_token',
    'ws_ticket',
    'clientSecret',
    'stripe-signature',
    'encrypted_token',
    'password',
  ])('a field named %j is dropped at any depth', (name) => {
    const line = logged({ [name]: CANARY, nested: { deep: [{ [name]: CANARY, kept: 1 }] } });
    expect(JSON.stringify(line)).not.toContain(CANARY);
    expect(line.nested).toEqual({ deep: [{ kept: 1 }] });
  });

  test('a Secret prints as redacted, an error as its name and kind', () => {
    const line = logged({
      value: new Secret(CANARY),
      error: new StoreError('fenced', 'saveQueue'),
      foreign: new Error(`request failed: ${CANARY}`, { cause: CANARY }),
    });
    expect(JSON.stringify(line)).not.toContain(CANARY);
    expect(line.value).toBe('[redacted]');
    expect(line.error).toMatchObject({ name: 'StoreError', kind: 'fenced', operation: 'saveQueue' });
    expect(line.foreign).toMatchObject({ name: 'Error' });
  });

  test('an error of the disk or the network prints its code, and nothing of its path', () => {
    const refused = Object.assign(new Error(`ENOSPC: ${CANARY}`), {
      syscall: 'write',
      code: 'ENOSPC',
      path: CANARY,
    });
    const line = logged({ error: refused, other: Object.assign(new Error('x'), { code: CANARY }) });
    expect(JSON.stringify(line)).not.toContain(CANARY);
    expect(line.error).toMatchObject({ name: 'Error', code: 'ENOSPC' });
  });

  test.each([`https://bot:${CANARY}@git.example.org/a`, `Bearer ${CANARY}`, `got "token ${CANARY}" back`])(
    'a credential inside a text is cut out: %s',
    (text) => {
      expect(JSON.stringify(logged({ text }))).not.toContain(CANARY);
    },
  );

  test('fields cannot pose as the head of the line, and nothing grows without bound', () => {
    const circular: Record<string, unknown> = { level: 'info', service: 'x' };
    circular.self = circular;
    const line = logged({
      ...circular,
      message: 'other',
      text: 'x'.repeat(10_000),
      list: Array(500).fill(1),
      bytes: Buffer.from(CANARY),
      nan: Number.NaN,
      big: 10n,
      run: () => CANARY,
    });
    expect(line).toMatchObject({ level: 'warn', service: 'worker', message: 'engine unreachable' });
    expect(line).toMatchObject({ bytes: '[omitted]', nan: 'NaN', big: '10', run: '[omitted]' });
    expect(line.text).toHaveLength(500);
    expect(line.list).toHaveLength(50);
    expect(JSON.stringify(line).length).toBeLessThan(10_000);
  });
});
