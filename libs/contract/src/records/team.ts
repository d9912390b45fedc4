import { z } from 'zod';
import { Id, nameText, multilineText, recordStamps, Time } from '../kernel/values.ts';

export const teamRoles = ['lead', 'member'] as const;
export const TeamRole = z.enum(teamRoles);
export type TeamRole = z.infer<typeof TeamRole>;

export const TeamName = nameText(120);
export const TeamDescription = multilineText(2_000);

export const Team = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    ...recordStamps,
  })
  .meta({ id: 'Team' });
export type Team = z.infer<typeof Team>;

/** A team as a reference inside another record. */
export const TeamRef = z.object({ id: Id, name: z.string() });

export const TeamMember = z
  .object({
    teamId: Id,
    memberId: Id,
    name: z.string(),
    handle: z.string(),
    role: TeamRole,
    addedAt: Time,
  })
  .meta({ id: 'TeamMember' });
export type TeamMember = z.infer<typeof TeamMember>;
