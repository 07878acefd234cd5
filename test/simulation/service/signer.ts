import { createHmac } from 'node:crypto';
import type { Secret } from '#core/secret.ts';

export interface SignedText {
  readonly bytes: Buffer;
  readonly signature: string;
}

/** Signs deliveries as a forge does. A forge says much the same all the time: each text is signed once. */
export class Signer {
  readonly #signed = new Map<string, SignedText>();

  sign(text: string, secret: Secret<string>): SignedText {
    const key = `${secret.reveal()} ${text}`;
    const known = this.#signed.get(key);
    if (known !== undefined) return known;
    const bytes = Buffer.from(text);
    const signature = `sha256=${createHmac('sha256', secret.reveal()).update(bytes).digest('hex')}`;
    const signed = { bytes, signature };
    this.#signed.set(key, signed);
    return signed;
  }
}
