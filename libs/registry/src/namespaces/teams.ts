import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, ExpectedVersion, Id, SearchText } from '../kernel/values.ts';
import { Team, TeamDescription, TeamMember, TeamName, TeamRole } from '../records/team.ts';
import { teamProjects } from './teams-projects.ts';

const example = { teamId: '01936d5c-0000-7000-8000-000000000021' };
const inTeam = { ...example, memberId: '01936d5c-0000-7000-8000-000000000020' };

export const teams = {
  create: operation({
    name: 'teams.create',
    effect: 'write',
    summary: 'Create a team',
    description: `A name is given once in the organization, in any case.`,
    access: org('admin'),
    params: z.strictObject({ name: TeamName, description: TeamDescription.optional() }),
    result: z.object({ team: Team }),
    refusals: ['already_exists'],
    emits: ['team.created'],
    example: { name: 'Mobile' },
  }),
  get: operation({
    name: 'teams.get',
    effect: 'read',
    summary: 'Get a team',
    description: `Its members and its projects are lists of their own.`,
    access: org('viewer'),
    params: z.strictObject({ teamId: Id }),
    result: z.object({ team: Team }),
    example,
  }),
  list: operation({
    name: 'teams.list',
    effect: 'read',
    summary: 'List the teams of the organization',
    description: `By name; query finds a part of the name.`,
    access: org('viewer'),
    params: z.strictObject({ query: SearchText.optional(), ...page }),
    result: pageOf(Team),
    example: { limit: 20 },
  }),
  update: operation({
    name: 'teams.update',
    effect: 'write',
    summary: 'Rename or describe a team',
    description: `For admins and the leads of the team. Fields left out stay as they are; description is cleared by null.`,
    access: org('viewer'),
    params: z.strictObject({
      teamId: Id,
      name: TeamName.optional(),
      description: TeamDescription.nullable().optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ team: Team }),
    refusals: ['version_mismatch', 'already_exists'],
    emits: ['team.updated'],
    example: { ...example, description: 'All that runs in a browser' },
  }),
  delete: operation({
    name: 'teams.delete',
    effect: 'write',
    summary: 'Delete a team',
    description: `Its members lose the roles that they had through it, and nothing else.`,
    access: org('admin'),
    params: z.strictObject({ teamId: Id }),
    result: Deleted,
    emits: ['team.deleted'],
    example,
  }),
  members: {
    add: operation({
      name: 'teams.members.add',
      effect: 'write',
      summary: 'Add a member to a team',
      description: `For admins and the leads of the team. Who is in it already is refused; setRole changes a role.`,
      access: org('viewer'),
      params: z.strictObject({ teamId: Id, memberId: Id, role: TeamRole.default('member') }),
      result: z.object({ teamMember: TeamMember }),
      refusals: ['already_exists'],
      emits: ['team.memberAdded'],
      example: { ...example, memberId: '01936d5c-0000-7000-8000-000000000022' },
    }),
    setRole: operation({
      name: 'teams.members.setRole',
      effect: 'write',
      summary: 'Change the role of a member in a team',
      description: `For admins and the leads of the team. The role one has succeeds and changes nothing.`,
      access: org('viewer'),
      params: z.strictObject({ teamId: Id, memberId: Id, role: TeamRole }),
      result: z.object({ teamMember: TeamMember }),
      emits: ['team.memberRoleChanged'],
      example: { ...inTeam, role: 'lead' },
    }),
    remove: operation({
      name: 'teams.members.remove',
      effect: 'write',
      summary: 'Take a member out of a team',
      description: `For admins and the leads of the team.`,
      access: org('viewer'),
      params: z.strictObject({ teamId: Id, memberId: Id }),
      result: Deleted,
      emits: ['team.memberRemoved'],
      example: inTeam,
    }),
    list: operation({
      name: 'teams.members.list',
      effect: 'read',
      summary: 'List the members of a team',
      description: `In the order in which they were added.`,
      access: org('viewer'),
      params: z.strictObject({ teamId: Id, ...page }),
      result: pageOf(TeamMember),
      example,
    }),
  },
  projects: teamProjects,
};
