/** Access to projects, and requests for it. */
import { z } from 'zod';
import { projectRoles } from '../kernel/access.ts';
import { Id, multilineText, recordStamps, Time } from '../kernel/values.ts';
import { Actor, MemberRef } from './member.ts';

/** The zod schema of a role in a project. The kernel defines the matching type. */
export const RoleInProject = z.enum(projectRoles);

/** A member with a role that was assigned in the project itself. */
export const ProjectMember = z
  .object({
    projectId: Id,
    memberId: Id,
    name: z.string(),
    handle: z.string(),
    role: RoleInProject.describe(
      'The role as granted; viewers of the organization can only read in any case',
    ),
    addedAt: Time,
  })
  .meta({ id: 'ProjectMember' });
export type ProjectMember = z.infer<typeof ProjectMember>;

/** A member with the effective role in the project, and the source of that role. */
export const Participant = z
  .object({
    memberId: Id,
    name: z.string(),
    role: RoleInProject,
    via: z
      .enum(['direct', 'team', 'org'])
      .describe('Granted to the member directly, to a team of theirs, or by their role in the organization'),
  })
  .meta({ id: 'Participant' });
export type Participant = z.infer<typeof Participant>;

/** A team whose members have a role in the project. */
export const ProjectTeam = z
  .object({ projectId: Id, teamId: Id, name: z.string(), role: RoleInProject, assignedAt: Time })
  .meta({ id: 'ProjectTeam' });
export type ProjectTeam = z.infer<typeof ProjectTeam>;

export const accessRequestStates = ['pending', 'approved', 'denied'] as const;
export const AccessRequestState = z.enum(accessRequestStates);
export type AccessRequestState = z.infer<typeof AccessRequestState>;

export const accessDecisions = ['approve', 'deny'] as const;
export const AccessDecision = z.enum(accessDecisions);
export type AccessDecision = z.infer<typeof AccessDecision>;

export const AccessMessage = multilineText(2_000, 1);

/** A request for access. It states only the id of the project, because the caller may not see the project. */
export const AccessRequest = z
  .object({
    id: Id,
    projectId: Id,
    member: MemberRef,
    role: RoleInProject.describe('The requested role; after approval, the granted role'),
    message: z.string().nullable(),
    state: AccessRequestState,
    resolvedBy: Actor.nullable(),
    resolvedAt: Time.nullable(),
    note: z.string().nullable(),
    ...recordStamps,
  })
  .meta({ id: 'AccessRequest' });
export type AccessRequest = z.infer<typeof AccessRequest>;
