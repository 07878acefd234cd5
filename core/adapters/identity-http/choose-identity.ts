import type { IdentitySettings } from '#core/contracts/internal/env.ts';
import type { IdentityPort } from '#core/ports/identity.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCognitoIdentity } from './cognito.ts';
import { createGoTrueIdentity } from './gotrue.ts';

/** Opens the identity provider of this deployment (D-93). */
export function chooseIdentity(env: IdentitySettings, clock: Pick<Clock, 'now'>): IdentityPort {
  switch (env.IDENTITY_KIND) {
    case 'gotrue':
      return createGoTrueIdentity({
        baseUrl: env.IDENTITY_URL,
        apiKey: env.IDENTITY_API_KEY,
        acceptsSharedSecret: env.IDENTITY_SHARED_SECRET,
        clock,
      });
    case 'cognito':
      return createCognitoIdentity({
        endpoint: env.IDENTITY_URL,
        userPoolId: env.COGNITO_USER_POOL_ID,
        clientId: env.COGNITO_CLIENT_ID,
        clock,
      });
  }
}
