import * as z from 'zod';
import { CODE_UNIT, WRITING_PERMISSIONS } from '../../domain/forge/write-permission.ts';

/** An organization of the forge in which a person may write. */
export interface ForgeMembership {
  /** Number of the organization on the forge; a name can be given up and taken by another organization. */
  readonly id: number;
  readonly name: string;
  readonly isOwner: boolean;
}

export const TEAMS_PER_PAGE = 50;
/** Pages of teams that are read; the rights of a person in more teams are not told. */
export const TEAM_PAGES_MAX = 20;

/** `GET user/teams`: both forges tell owners, and each right by unit. */
const Team = z.object({
  permission: z.string(),
  units_map: z.record(z.string(), z.string()).nullish(),
  organization: z.object({ id: z.int(), name: z.string().min(1) }),
});
export const Teams = z.array(Team);
export type Teams = z.infer<typeof Teams>;

/** Organizations of these teams in which the person may write to code. Teams that only read count for nothing. */
export function membershipsOf(teams: Teams): readonly ForgeMembership[] {
  const found = new Map<number, ForgeMembership>();
  for (const { permission, units_map: units, organization } of teams) {
    const isOwner = permission === 'owner';
    const mayWrite = [permission, units?.[CODE_UNIT] ?? ''].some((each) =>
      WRITING_PERMISSIONS.includes(each),
    );
    if (!isOwner && !mayWrite) continue;
    const known = found.get(organization.id);
    found.set(organization.id, { ...organization, isOwner: isOwner || known?.isOwner === true });
  }
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name));
}
