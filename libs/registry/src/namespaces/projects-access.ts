import { z } from 'zod';
import { org, project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, Id, MemberParam, ProjectRef } from '../kernel/values.ts';
import {
  AccessDecision,
  AccessMessage,
  AccessRequest,
  AccessRequestState,
  Participant,
  ProjectMember,
  RoleInProject,
  ProjectTeam,
} from '../records/access.ts';
import { TeamRef } from '../records/team.ts';

const memberId = '01936d5c-0000-7000-8000-000000000040';
const teamId = '01936d5c-0000-7000-8000-000000000042';
const accessRequestId = '01936d5c-0000-7000-8000-000000000043';

/** The part of the namespace `projects` that manages access to a project. */
export const projectAccess = {
  members: {
    add: operation({
      name: 'projects.members.add',
      effect: 'write',
      idempotent: true,
      summary: 'Give a member a role in a project',
      keywords: 'grant access permission share user person',
      description: `Again, it changes the role; the role they have changes nothing. What counts is the highest of this, their teams and what the organization gives. Viewers of the organization can only be viewers here. The last lead of a private project keeps the role.`,
      access: project('lead'),
      params: z.strictObject({ projectId: ProjectRef, memberId: MemberParam, role: RoleInProject }),
      result: z.object({ projectMember: ProjectMember }),
      refusals: ['policy', 'lead_required', 'archived'],
      emits: ['project.memberAdded'],
      example: { projectId: 'WEB', memberId, role: 'lead' },
    }),
    remove: operation({
      name: 'projects.members.remove',
      effect: 'write',
      idempotent: true,
      destructive: true,
      summary: "Take a member's own role in a project away",
      keywords: 'revoke access kick person people user permission take away off',
      description: `What their teams and the organization give stays. The last lead of a private project cannot go.`,
      access: project('lead'),
      params: z.strictObject({ projectId: ProjectRef, memberId: MemberParam }),
      result: Deleted,
      refusals: ['lead_required', 'archived'],
      emits: ['project.memberRemoved'],
      example: { projectId: 'WEB', memberId },
    }),
    list: operation({
      name: 'projects.members.list',
      effect: 'read',
      summary: 'List who has a role in a project',
      keywords: 'who can see has access permissions users',
      description: `By name, each with the role that counts and where it comes from; of equal ones, given directly goes before by a team before by the organization.`,
      access: project('viewer'),
      params: z.strictObject({ projectId: ProjectRef, ...page }),
      result: pageOf(Participant),
      example: { projectId: 'WEB' },
    }),
  },
  assignTeam: operation({
    name: 'projects.assignTeam',
    effect: 'write',
    idempotent: true,
    summary: 'Give a team a role in a project',
    keywords: 'share grant access squad crew permission see give',
    description: `Every member of the team has it there, later ones too. Again, it changes the role. The last lead of a private project may be in a team.`,
    access: project('lead'),
    params: z.strictObject({ projectId: ProjectRef, teamId: Id, role: RoleInProject }),
    result: z.object({ projectTeam: ProjectTeam }),
    refusals: ['lead_required', 'archived'],
    emits: ['project.teamAssigned'],
    example: { projectId: 'WEB', teamId, role: 'lead' },
  }),
  unassignTeam: operation({
    name: 'projects.unassignTeam',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: "Take a team's role in a project away",
    keywords: 'revoke access squad crew permission remove',
    description: `Its members keep what they have otherwise. A team with the last lead of a private project cannot go.`,
    access: project('lead'),
    params: z.strictObject({ projectId: ProjectRef, teamId: Id }),
    result: Deleted,
    refusals: ['lead_required', 'archived'],
    emits: ['project.teamUnassigned'],
    example: { projectId: 'WEB', teamId },
  }),
  teams: {
    list: operation({
      name: 'projects.teams.list',
      effect: 'read',
      summary: 'List the teams of a project',
      keywords: 'which squads crews have access permission',
      description: `By name, each with the role that its members have there.`,
      access: project('viewer'),
      params: z.strictObject({ projectId: ProjectRef, ...page }),
      result: pageOf(z.object({ team: TeamRef, role: RoleInProject })),
      example: { projectId: 'WEB' },
    }),
  },
  requestAccess: operation({
    name: 'projects.requestAccess',
    effect: 'write',
    idempotent: true,
    summary: 'Ask for a role in a project',
    keywords: 'get access permission join',
    description: `Also in a private one, of which one must know the id or key: the only operation that tells it from none, and it tells no more than the id. A request that waits for an answer is answered again as it is. A member who has that role, or a higher one, is refused. After a denial it waits a day: 409 already_resolved with details.retryAt.`,
    access: org('member'),
    params: z.strictObject({
      projectId: ProjectRef,
      role: RoleInProject.default('contributor'),
      message: AccessMessage.optional(),
    }),
    result: z.object({ accessRequest: AccessRequest }),
    refusals: ['already_exists', 'already_resolved', 'archived'],
    emits: ['access.requested'],
    example: { projectId: 'WEB', role: 'lead', message: 'I take over the sign-up pages' },
  }),
  accessRequests: {
    list: operation({
      name: 'projects.accessRequests.list',
      effect: 'read',
      summary: 'List who asked for a role in a project',
      keywords: 'who wants waiting pending join get in permission approvals',
      description: `Newest first, in any state or in one.`,
      access: project('lead'),
      params: z.strictObject({ projectId: ProjectRef, state: AccessRequestState.optional(), ...page }),
      result: pageOf(AccessRequest),
      example: { projectId: 'WEB', state: 'pending' },
    }),
    resolve: operation({
      name: 'projects.accessRequests.resolve',
      effect: 'write',
      idempotent: true,
      summary: 'Approve or deny a request for access',
      keywords: 'grant reject approve join',
      description: `Approving gives the member the role asked for, or the one named here, and never lowers what they were given before. It is decided once.`,
      access: project('lead'),
      params: z
        .strictObject({
          accessRequestId: Id,
          decision: AccessDecision,
          role: RoleInProject.optional().describe('Instead of the one asked for'),
          note: AccessMessage.optional(),
        })
        .refine(({ decision, role }) => decision === 'approve' || role === undefined, {
          path: ['role'],
          message: 'goes with approve only',
        }),
      result: z.object({ accessRequest: AccessRequest }),
      refusals: ['already_resolved', 'policy', 'archived'],
      emits: ['access.resolved'],
      auditsRefusal: true,
      example: { accessRequestId, decision: 'approve', note: 'Welcome' },
    }),
  },
};
