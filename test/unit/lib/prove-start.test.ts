import { readBaseUrls } from '../../../lib/deployed.ts';
import { describeStart, proveStart } from '../../../lib/prove-start.ts';

/** An engine that answers `statuses`, one question each, and then the last of them. */
async function prove(...statuses: (number | null)[]) {
  const asked: string[] = [];
  let now = 0;
  const proof = await proveStart(
    {
      ask: async (url) => {
        asked.push(url);
        return statuses[Math.min(asked.length, statuses.length) - 1] ?? null;
      },
      now: () => now,
      sleep: async (ms) => {
        now += ms;
      },
    },
    'https://mq.example.org',
  );
  return { ...proof, asked };
}

describe('a deployment is proven by a start of the engine', () => {
  test('one that sleeps is woken by the question, and waited for', async () => {
    const { started, seconds, asked } = await prove(503, null, 503, 200);
    expect([started, seconds]).toEqual([true, 60]);
    expect(new Set(asked)).toEqual(new Set(['https://mq.example.org/api/container-health']));
  });

  test('one that cannot start is told within four minutes', async () => {
    const { asked: _, ...proof } = await prove(null, 503);
    expect(proof).toEqual({ started: false, answered: true, seconds: 240 });
    expect(describeStart(proof, 'https://mq.example.org')).toMatch(
      /^the engine did not answer within 240 s, so the queues stand still/,
    );
  });

  test('a name that points nowhere yet is told as that, and nothing is said of the engine', async () => {
    const { asked: _, ...proof } = await prove(null);
    expect(proof).toMatchObject({ started: false, answered: false });
    const says = describeStart(proof, 'https://mq.example.org');
    expect(says).toMatch(/^https:\/\/mq\.example\.org does not answer yet.+DistributionDomainName/);
    expect(says).not.toMatch(/stand still/);
  });

  test('the address is that of the outputs', () => {
    const outputs = { 'Mergeyard-prod': { BaseUrl: 'https://mq.example.org' }, Other: { Key: 'x' } };
    expect([...readBaseUrls(outputs)]).toEqual([['Mergeyard-prod', 'https://mq.example.org']]);
  });
});
