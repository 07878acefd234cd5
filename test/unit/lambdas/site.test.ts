import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { readSiteFiles } from '#core/adapters/site-files/site-files.ts';
import { AppError } from '#core/contracts/errors.ts';
import type { DashboardConfig } from '#core/contracts/internal/dashboard.ts';
import { createSite } from '../../../lambdas/site/serve.ts';

const PAGE = 'text/html,application/xhtml+xml';
const CONFIG: DashboardConfig = {
  sign_in: {
    kind: 'cognito',
    domain: 'https://mq.auth.eu-west-1.amazoncognito.com',
    client_id: 'abc',
    endpoint: 'https://cognito-idp.eu-west-1.amazonaws.com',
  },
  sign_up: 'closed',
  sends_mail: false,
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergeyard-site-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'assets/main-1a2b.js'), 'export {}');
  writeFileSync(join(folder, 'assets/dot-3c.png'), Buffer.from([0x89, 0xff, 0x00]));
  writeFileSync(join(folder, '..', 'outside.txt'), 'not ours');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function ask(
  rawPath: string,
  headers: Record<string, string> = {},
  files = readSiteFiles(pathToFileURL(`${folder}/`)),
) {
  const event: Pick<APIGatewayProxyEventV2, 'rawPath' | 'headers'> = { rawPath, headers };
  return createSite(files, CONFIG)(event as APIGatewayProxyEventV2);
}

describe('the dashboard’s files', () => {
  test.each(['/', '/repos/some-id', '/sign-in/callback'])(
    'a browser that asks for %s gets the page',
    async (path) => {
      const answer = await ask(path, { accept: PAGE });
      expect(answer).toMatchObject({ statusCode: 200, body: '<!doctype html>' });
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-frame-options': 'DENY',
      });
    },
  );

  test.each<[string, Record<string, string>]>([
    ['no word of what is wanted', {}],
    ['anything', { accept: '*/*' }],
  ])('the bare address is the page also for a caller that accepts %s', async (_what, headers) => {
    expect(await ask('/', headers)).toMatchObject({ statusCode: 200, body: '<!doctype html>' });
  });

  test('the page may connect to itself and the identity provider only, and runs nothing inline', async () => {
    const policy = (await ask('/', { accept: PAGE })).headers['content-security-policy'];
    expect(policy).toContain(
      "connect-src 'self' https://mq.auth.eu-west-1.amazoncognito.com https://cognito-idp.eu-west-1.amazonaws.com;",
    );
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/unsafe|\*/);
  });

  test('hashed files are kept for ever, for every caller', async () => {
    const answer = await ask('/assets/main-1a2b.js');
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8');
  });

  test('a file that is no text keeps its bytes', async () => {
    const answer = await ask('/assets/dot-3c.png');
    expect(answer.isBase64Encoded).toBe(true);
    expect([...Buffer.from(answer.body, 'base64')]).toEqual([0x89, 0xff, 0x00]);
  });

  test('a file that the browser has already is not sent again', async () => {
    const first = await ask('/', { accept: PAGE });
    const again = await ask('/', { accept: PAGE, 'if-none-match': first.headers.etag ?? '' });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test('the configuration says how one signs in, and whether mail is sent', async () => {
    const answer = await ask('/config.json');
    expect(JSON.parse(answer.body)).toEqual(CONFIG);
    expect(answer.headers['cache-control']).toBe('no-cache');
  });

  test.each([
    ['/api/v1/nothing', PAGE],
    ['/internal/reconcile', PAGE],
    ['/assets/gone.js', PAGE],
    ['/nothing', 'application/json'],
    ['/', 'application/json'],
    ['/nothing', '*/*'],
    ['/../outside.txt', '*/*'],
    ['/assets/..%2f..%2foutside.txt', '*/*'],
  ])('%s, asked for as %s, is the service’s own 404', async (path, accept) => {
    await expect(ask(path, { accept })).rejects.toEqual(new AppError('not_found'));
  });

  test('without a page nothing is served', async () => {
    const none = readSiteFiles(pathToFileURL(join(folder, 'none/')));
    await expect(ask('/', { accept: PAGE }, none)).rejects.toThrow(AppError);
    await expect(ask('/config.json', {}, none)).rejects.toThrow(AppError);
  });
});
