import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { makeSiteFile, type SiteFile, type SiteFiles } from '#core/adapters/site-files/site-files.ts';
import { AppError } from '#core/contracts/errors.ts';
import {
  DASHBOARD_ASSETS_PREFIX,
  DASHBOARD_CONFIG_PATH,
  type DashboardConfig,
  dashboardCaching,
  dashboardHeaders,
} from '#core/contracts/internal/dashboard.ts';
import { readHeader } from '#core/http/read-header.ts';
import type { HttpResponse } from '#core/http/respond.ts';

export interface SiteResponse extends HttpResponse {
  readonly isBase64Encoded?: boolean;
}

const INDEX = '/index.html';
/** Addresses that are never a page: what is not there is not there. */
const NO_PAGES = ['/api/', '/internal/', DASHBOARD_ASSETS_PREFIX];
const TEXT = /^(text\/|application\/(json|manifest\+json)|image\/svg)/;

/**
 * The dashboard's files. A browser that asks for a page gets the one page there is, which finds its way by the address, and
 * so does a caller of the bare address who takes anything; all else that is unknown gets the service's own 404, so that a wrong address of
 * the API never answers with a page.
 */
export function createSite(
  files: SiteFiles,
  config: DashboardConfig,
): (event: APIGatewayProxyEventV2) => Promise<SiteResponse> {
  const headers = dashboardHeaders(originsOf(config));
  const own = new Map([
    ...files,
    [DASHBOARD_CONFIG_PATH, makeSiteFile(Buffer.from(JSON.stringify(config)), 'application/json')],
  ]);
  return async (event) => {
    const path = event.rawPath;
    const found = own.get(path) ?? (wantsPage(event, path) ? own.get(INDEX) : undefined);
    // Without its page the configuration has no use.
    if (found === undefined || !files.has(INDEX)) throw new AppError('not_found');
    return send(event, found, { ...headers, 'cache-control': dashboardCaching(path), etag: found.etag });
  };
}

function originsOf({ sign_in }: DashboardConfig): string[] {
  const addresses = sign_in.kind === 'gotrue' ? [sign_in.url] : [sign_in.domain, sign_in.endpoint];
  return addresses.filter((address) => address !== '').map((address) => new URL(address).origin);
}

function wantsPage(event: APIGatewayProxyEventV2, path: string): boolean {
  if (NO_PAGES.some((prefix) => path.startsWith(prefix))) return false;
  const accepted = readHeader(event.headers, 'accept');
  // Browsers name the type of a page. At the bare address those who name none mean nothing else.
  if (path === '/' && (accepted === undefined || accepted.includes('*/*'))) return true;
  return accepted?.includes('text/html') === true;
}

function send(
  event: APIGatewayProxyEventV2,
  file: SiteFile,
  headers: Readonly<Record<string, string>>,
): SiteResponse {
  if (readHeader(event.headers, 'if-none-match')?.includes(file.etag)) {
    return { statusCode: 304, headers: { ...headers }, body: '' };
  }
  const isText = TEXT.test(file.type);
  return {
    statusCode: 200,
    headers: { ...headers, 'content-type': file.type },
    body: file.bytes.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}
