import { z } from 'zod';
import { org, orgRoles, projectRoles, selfAccess } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { Deleted, Id, MemberParam, ProjectRef, SearchText } from '../kernel/values.ts';
import { Invitation } from '../records/invitation.ts';
import { EmailAddress, GivenRole, Member, memberStatuses } from '../records/member.ts';
import { ProjectShort } from '../records/project.ts';
import { TeamRef, TeamRole } from '../records/team.ts';
import { Agent } from '../records/token.ts';

const example = { memberId: '01936d5c-0000-7000-8000-000000000020' };

export const members = {
  invite: operation({
    name: 'members.invite',
    effect: 'write',
    summary: 'Invite a person into the organization by e-mail',
    keywords: 'add new user colleague person people join email developer teammate coworker bring in onboard',
    description:
      'Sends an e-mail with a secret, valid for 7 days. All roles except viewer need a free seat, which is reserved immediately. The person who accepts joins these teams, and these projects as contributor (a viewer as viewer). An expired invitation is renewed. An address gets at most six of these e-mails per week. Only the owner can invite an admin.',
    access: org('admin'),
    params: z.strictObject({
      email: EmailAddress,
      role: GivenRole.default('member'),
      teamIds: z.array(Id).max(50).default([]),
      projectIds: z.array(ProjectRef).max(50).default([]),
    }),
    result: z.object({ invitation: Invitation }),
    refusals: ['already_exists', 'seats_exhausted', 'policy', 'limit_exceeded'],
    emits: ['invitation.created', 'invitation.renewed'],
    auditsRefusal: true,
    example: { email: 'noor@example.com', role: 'member', projectIds: ['WEB'] },
  }),
  list: operation({
    name: 'members.list',
    effect: 'read',
    summary: 'List the members of the organization',
    keywords: 'users people colleagues team mates everyone find user by name email who is in',
    description:
      'Sorted by name. Removed members only with status removed; query matches part of the name, the handle or the e-mail address.',
    access: org('viewer'),
    params: z.strictObject({
      query: SearchText.optional(),
      role: z.enum(orgRoles).optional(),
      status: z.enum(memberStatuses).default('active'),
      ...pageParams,
    }),
    result: pageSchemaOf(Member),
    example: { role: 'member' },
  }),
  profile: operation({
    name: 'members.profile',
    effect: 'read',
    summary: 'Show a member with agents, teams, projects and statistics',
    keywords: 'user person details statistics about colleague agents of bots hand over to',
    description:
      "Yourself if memberId is omitted. Lists the member's agents that are not retired. Projects and statistics cover only projects that you may see too; at most 200 teams and 200 projects that are not archived.",
    access: org('viewer'),
    params: z.strictObject({ memberId: MemberParam.optional() }),
    result: z.object({
      member: Member,
      agents: z.array(Agent.pick({ id: true, name: true, slug: true })),
      teams: z.array(TeamRef.extend({ role: TeamRole })),
      projects: z.array(ProjectShort.extend({ role: z.enum(projectRoles) })),
      stats: z.object({
        storiesDone: z.int().describe('Done stories that are assigned to the member'),
        reviewsGiven: z.int().describe('Current verdicts'),
        commentsWritten: z.int().describe('By the member, not by their agents'),
        activeExecutions: z.int(),
      }),
    }),
    example,
  }),
  setRole: operation({
    name: 'members.setRole',
    effect: 'write',
    idempotent: true,
    summary: "Change a member's role in the organization",
    keywords: 'make admin promote demote permissions user viewer',
    description:
      "Only the owner can make a member an admin or give an admin another role, and the owner's role changes only by transferring the organization. A viewer who gets a higher role needs a seat; a member who becomes viewer stops leading teams. Setting the current role has no effect.",
    access: org('admin'),
    params: z.strictObject({ memberId: MemberParam, role: GivenRole }),
    result: z.object({ member: Member }),
    refusals: ['owner_required', 'seats_exhausted'],
    emits: ['member.roleChanged'],
    auditsRefusal: true,
    example: { ...example, role: 'viewer' },
  }),
  removeMember: operation({
    name: 'members.removeMember',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Remove a member from the organization',
    keywords: 'kick delete user person fire deactivate rid off',
    description:
      "Takes effect immediately: the member's tokens are revoked and their agents retired; leases, locks, runs, assignments, memberships, devices, offers of work and the invitations they sent end. Their past work stays. Only the owner can remove an admin.",
    access: org('admin'),
    params: z.strictObject({ memberId: MemberParam }),
    result: Deleted,
    refusals: ['owner_required'],
    emits: ['member.removed'],
    auditsRefusal: true,
    example,
  }),
  leave: operation({
    name: 'members.leave',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Leave the organization',
    keywords: 'quit resign go away exit company',
    description:
      'Has the same effects as being removed, and also ends the token that makes the call. The owner must transfer the organization first.',
    access: selfAccess(),
    byMemberOnly: true,
    params: z.strictObject({}),
    result: Deleted,
    refusals: ['owner_required'],
    emits: ['member.departed'],
    auditsRefusal: true,
    example: {},
  }),
};
