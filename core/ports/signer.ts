export interface PublicKey {
  /** PEM of a key on the curve P-256. */
  readonly pem: string;
}

/** Signs statements; the private key never comes here. Rejects with `SignerError`. */
export interface Signer {
  readPublicKey(): Promise<PublicKey>;
  /** ECDSA with SHA-256 over these bytes, as DER. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

/** No answer now. What the key service said is left out: its errors hold the request. */
export class SignerError extends Error {
  override readonly name = 'SignerError';
  constructor() {
    super('signer: unavailable');
  }
}
