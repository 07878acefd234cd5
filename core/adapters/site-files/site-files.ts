import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SiteFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** ETag with its quotes, as the header has it. */
  readonly etag: string;
}

/** Files by path as in the address, with a leading slash. */
export type SiteFiles = ReadonlyMap<string, SiteFile>;

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
};

/** Everything below a folder, in memory: a request names a key of this map and never a path of the disk. */
export function readSiteFiles(address: URL): SiteFiles {
  const folder = fileURLToPath(address);
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [`/${relative(folder, file).split(sep).join('/')}`, describeFile(file)];
    }),
  );
}

function describeFile(file: string): SiteFile {
  const bytes = readFileSync(file);
  const extension = file.slice(file.lastIndexOf('.') + 1);
  return makeSiteFile(bytes, TYPES[extension] ?? 'application/octet-stream');
}

export function makeSiteFile(bytes: Buffer, type: string): SiteFile {
  return { type, bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}
