import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';
import type { StoredSecret, StoredSecrets } from './stored-secrets.ts';

/** The deployment's `ADMIN_KEY`, for operator tooling (contract, Authentication 2). Made once, never shown by the stack. */
export class AdminKey extends Construct {
  readonly secret: StoredSecret;

  /** `retain`: the key survives every update and `cdk destroy`. */
  constructor(
    scope: Construct,
    id: string,
    { secrets, retain }: { readonly secrets: StoredSecrets; readonly retain: boolean },
  ) {
    super(scope, id);
    this.secret = secrets.make(this, 'Key', {
      name: 'admin-key',
      description: 'X-Admin-Key of the admin API',
      length: 64,
      retain,
      oldId: 'Secret',
    });
  }

  grantRead(grantee: Grantee): void {
    this.secret.grantRead(grantee, 'ADMIN_KEY_SECRET_ID');
  }
}
