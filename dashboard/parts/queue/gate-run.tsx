import { showPulls } from '../../view/format.ts';
import { Outward } from '../frame/basics.tsx';

/** Link to a gate run, named by its pull requests: heard in a list of links, five of them are five different ones. */
export function GateRun({
  href,
  prs,
  children = 'Gate run',
}: {
  readonly href: string;
  /** None: the run judged the base alone. */
  readonly prs: readonly number[];
  readonly children?: string;
}) {
  const of = prs.length === 0 ? 'the base' : showPulls(prs);
  return (
    <Outward href={href} label={`${children} of ${of}`}>
      {children}
    </Outward>
  );
}
