import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { respondJson } from '#core/http/respond.ts';
import { createLog } from '#core/telemetry.ts';
import { toEvent } from '../../../support/gateway-event.ts';

const STAMP = 'stamp-of-the-edge';
const log = createLog({ service: 'test', write: () => undefined, now: () => 0 });

describe('with rules at the edge', () => {
  let asked = 0;
  const handler = middy(async () => {
    asked += 1;
    return respondJson(200, {});
  }).use(answerWithEnvelope(log, STAMP));
  const call = (headers: Readonly<Record<string, string>>) =>
    handler(toEvent('GET', '/api/v1/health', { headers }), {} as Context);

  test.each([
    ['no stamp', {}],
    ['a guessed one', { 'x-mergeyard-stamp': 'guessed' }],
    ['an empty one', { 'x-mergeyard-stamp': '' }],
  ])('a request with %s finds nothing, and nothing is asked', async (_name, headers) => {
    asked = 0;
    const answer = await call(headers);
    expect([answer.statusCode, JSON.parse(answer.body).error.code, asked]).toEqual([404, 'not_found', 0]);
  });

  test('one that came through the edge is answered', async () => {
    expect((await call({ 'x-mergeyard-stamp': STAMP })).statusCode).toBe(200);
  });
});
