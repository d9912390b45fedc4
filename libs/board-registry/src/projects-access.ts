import { z } from 'zod';
import {
  org,
  project,
  operation,
  pageParams,
  pageSchemaOf,
  Deleted,
  Id,
  MemberParam,
  ProjectRef,
  AccessDecision,
  AccessMessage,
  AccessRequest,
  AccessRequestState,
  Participant,
  ProjectMember,
  RoleInProject,
  ProjectTeam,
  TeamRef,
} from '@muster/contract';

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
      description:
        "Calling it again changes the role; setting the current role has no effect. A member's effective role is the highest of this one, those of their teams, and that from the organization. Viewers of the organization can only be viewers. The last lead of a private project keeps the role.",
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
      summary: "Remove a member's own role in a project",
      keywords: 'revoke access kick person people user permission take away off',
      description:
        'Roles from teams and from the organization stay. The last lead of a private project cannot be removed.',
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
      summary: 'List the members with a role in a project',
      keywords: 'who can see has access permissions users',
      description:
        'Sorted by name, each with the effective role and its source. If several sources give the same role, a direct one is shown before a team, and a team before the organization.',
      access: project('viewer'),
      params: z.strictObject({ projectId: ProjectRef, ...pageParams }),
      result: pageSchemaOf(Participant),
      example: { projectId: 'WEB' },
    }),
  },
  assignTeam: operation({
    name: 'projects.assignTeam',
    effect: 'write',
    idempotent: true,
    summary: 'Give a team a role in a project',
    keywords: 'share grant access squad crew permission see give',
    description:
      'Every current and future member of the team gets this role in the project. Calling it again changes the role. Fails if a private project would lose its last lead.',
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
    summary: "Remove a team's role in a project",
    keywords: 'revoke access squad crew permission remove',
    description:
      "The team's members keep the roles that they have directly or through other teams. Fails if a private project would lose its last lead.",
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
      summary: 'List the teams with a role in a project',
      keywords: 'which squads crews have access permission',
      description: 'Sorted by name, each with the role that it gives.',
      access: project('viewer'),
      params: z.strictObject({ projectId: ProjectRef, ...pageParams }),
      result: pageSchemaOf(z.object({ team: TeamRef, role: RoleInProject })),
      example: { projectId: 'WEB' },
    }),
  },
  requestAccess: operation({
    name: 'projects.requestAccess',
    effect: 'write',
    idempotent: true,
    summary: 'Request a role in a project',
    keywords: 'get access permission join',
    description:
      'Also for a private project whose id or key you know. No other operation reveals that a private project exists, and this one reveals only its id. A pending request is returned unchanged. Fails if you already have that role or a higher one. After a denial you can ask again after a day; until then the call fails with 409 already_resolved and details.retryAt.',
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
      summary: 'List the access requests of a project',
      keywords: 'who wants waiting pending join get in permission approvals',
      description: 'Newest first, in any state unless state is given.',
      access: project('lead'),
      params: z.strictObject({ projectId: ProjectRef, state: AccessRequestState.optional(), ...pageParams }),
      result: pageSchemaOf(AccessRequest),
      example: { projectId: 'WEB', state: 'pending' },
    }),
    resolve: operation({
      name: 'projects.accessRequests.resolve',
      effect: 'write',
      idempotent: true,
      summary: 'Approve or deny an access request',
      keywords: 'grant reject approve join',
      description:
        'Approving gives the member the requested role, or the role named here, and never lowers a role that they have. A request can be decided only once.',
      access: project('lead'),
      params: z
        .strictObject({
          accessRequestId: Id,
          decision: AccessDecision,
          role: RoleInProject.optional().describe('Grants this role instead of the requested one'),
          note: AccessMessage.optional(),
        })
        .refine(({ decision, role }) => decision === 'approve' || role === undefined, {
          path: ['role'],
          message: 'can be combined only with approve',
        }),
      result: z.object({ accessRequest: AccessRequest }),
      refusals: ['already_resolved', 'policy', 'archived'],
      emits: ['access.resolved'],
      auditsRefusal: true,
      example: { accessRequestId, decision: 'approve', note: 'Welcome' },
    }),
  },
};
