/** Codes that many routes share, beside those that every route has. */
export const BODY = ['invalid_body', 'invalid_field'] as const;
export const OWN = ['not_found', 'db_error'] as const;
export const ON_FORGE = ['not_found', 'connection_not_found', 'decryption_error', 'db_error'] as const;
export const ON_TOKEN = [...ON_FORGE, 'forge_access_denied', 'forge_unreachable'] as const;
