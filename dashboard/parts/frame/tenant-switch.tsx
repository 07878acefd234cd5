import { useState } from 'react';
import { useLocation } from 'wouter';
import { useService, useSession } from '../../data/hooks.ts';
import { chooseTenant } from '../../data/session.ts';
import { path } from '../../routes.ts';
import { Failure } from '../account/sign-in-failure.tsx';

/** The organization that the page shows, and the others of this person. */
export function TenantSwitch() {
  const { config, queries } = useService();
  const tenants = useSession()?.tenants;
  const [, navigate] = useLocation();
  const [failure, setFailure] = useState<unknown>(null);
  const { sign_in: signIn } = config;
  if (tenants === undefined || signIn.kind !== 'gotrue') return null;
  const choose = async (id: string): Promise<void> => {
    setFailure(null);
    try {
      await chooseTenant(signIn, id);
      queries.clear();
      navigate(path.home());
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <>
      <label className="tenant-switch">
        <span className="sr-only">Organization</span>
        <select value={tenants.chosen} onChange={(event) => void choose(event.target.value)}>
          {tenants.all.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Failure error={failure} />
    </>
  );
}
