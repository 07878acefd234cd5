import { IDENTITY_TIMEOUT_MS } from '#core/domain/api-limits.ts';

export interface ProviderAnswer {
  readonly status: number;
  /** Parsed body; undefined where it is no JSON. */
  readonly value: unknown;
}

export interface ProviderCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs?: number;
}

const BODY_CHARS_MAX = 256 * 1024;

/**
 * One call to the identity provider, whose address the operator sets. Null: no answer in time. Not the guarded client:
 * no tenant has a say in the address, and it may well be private.
 */
export async function askProvider(call: ProviderCall): Promise<ProviderAnswer | null> {
  try {
    const response = await fetch(call.url, {
      method: call.method,
      headers: { ...call.headers },
      redirect: 'error',
      signal: AbortSignal.timeout(call.timeoutMs ?? IDENTITY_TIMEOUT_MS),
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    const text = await response.text();
    return { status: response.status, value: text.length > BODY_CHARS_MAX ? undefined : parse(text) };
  } catch {
    // Whatever went wrong may quote the request, token included (A95).
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
