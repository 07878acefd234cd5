import { Problem } from './errors.tsx';
import { FaultContext, type Faults, faultOf } from './fault.ts';

/**
 * The fields of a form whose call may have failed: the field that the failure is about is marked and gets the focus; a
 * failure that is about none is told after the fields.
 */
export function FailedCall({
  error,
  faults,
  children,
}: {
  readonly error: unknown;
  readonly faults: Faults;
  readonly children: React.ReactNode;
}) {
  const fault = faultOf(error, faults);
  return (
    <FaultContext value={fault}>
      {children}
      {fault === null && <Problem error={error} />}
    </FaultContext>
  );
}
