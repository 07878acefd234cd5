import { createHmac, timingSafeEqual } from 'node:crypto';

export interface Claims {
  readonly sub: string;
  readonly session_id: string;
  /** How the person has shown who they are, and when; seconds. */
  readonly amr?: readonly { readonly method: string; readonly timestamp: number }[];
  readonly role: string;
  readonly iat: number;
  /** Epoch seconds. */
  readonly exp: number;
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

export function signToken(secret: string, claims: Claims): string {
  const body = `${HEADER}.${encode({ aud: 'authenticated', ...claims })}`;
  return `${body}.${mac(secret, body).toString('base64url')}`;
}

/** Null unless it was signed here, by exactly this algorithm, and has not expired. */
export function readToken(secret: string, token: string, nowMs: number): Claims | null {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const given = Buffer.from(signature, 'base64url');
  const expected = mac(secret, `${header}.${claims}`);
  if (header !== HEADER || given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const value: Claims = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  return value.exp * 1000 > nowMs ? value : null;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function mac(secret: string, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}
