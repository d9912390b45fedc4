import { z } from 'zod';
import {
  org,
  project,
  operation,
  pageParams,
  pageSchemaOf,
  AgentParam,
  Deleted,
  MemberParam,
  ProjectRef,
  Assignment,
  isTargetRef,
  targetIdIssue,
  TargetRef,
  TargetType,
} from '@muster/contract';

export const assignments = {
  set: operation({
    name: 'assignments.set',
    effect: 'write',
    idempotent: true,
    summary: 'Assign a story, an epic or a delivery group',
    keywords:
      'give owner responsible person colleague teammate developer agent ticket task to somebody assignee',
    description:
      "Assigns a member, an agent or both. An omitted field keeps its value, and null clears it; if both are null, the record has no assignee. The member, or the agent's member, must be able to see the project. Repeating the call has no effect.",
    access: project('contributor'),
    params: z
      .strictObject({
        targetType: TargetType,
        targetId: TargetRef,
        memberId: MemberParam.nullable().optional(),
        agentId: AgentParam.nullable().optional(),
      })
      .refine(isTargetRef, targetIdIssue)
      .refine(({ memberId, agentId }) => memberId !== undefined || agentId !== undefined, {
        error: 'give memberId, agentId or both; null unassigns one',
        path: ['memberId'],
      }),
    result: z.object({ assignment: Assignment }),
    refusals: ['no_role_in_project', 'archived'],
    emits: ['assignment.changed', 'assignment.cleared'],
    example: {
      targetType: 'story',
      targetId: 'WEB-1',
      memberId: '01936d5c-0000-7000-8000-000000000050',
      agentId: '01936d5c-0000-7000-8000-000000000051',
    },
  }),
  clear: operation({
    name: 'assignments.clear',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Remove all assignees of a story, an epic or a delivery group',
    keywords: 'unassign remove assignee responsible nobody ticket task card person agent',
    description: 'Removes both the member and the agent. If no one is assigned, the call fails with 404.',
    access: project('contributor'),
    params: z
      .strictObject({ targetType: TargetType, targetId: TargetRef })
      .refine(isTargetRef, targetIdIssue),
    result: Deleted,
    refusals: ['archived'],
    emits: ['assignment.cleared'],
    example: { targetType: 'story', targetId: 'WEB-2' },
  }),
  listForProject: operation({
    name: 'assignments.listForProject',
    effect: 'read',
    summary: 'List the assignments in a project',
    keywords: 'who does owns responsible assignee',
    description: `Stories first, then epics, then delivery groups; the newest of each first.`,
    access: project('viewer'),
    params: z.strictObject({ projectId: ProjectRef, ...pageParams }),
    result: pageSchemaOf(Assignment),
    example: { projectId: 'WEB' },
  }),
  listForOrg: operation({
    name: 'assignments.listForOrg',
    effect: 'read',
    summary: 'List assignments in all projects that are not archived',
    keywords: 'my tasks work assigned to me what is on my plate',
    description:
      'Only in projects that you may see; memberId or agentId selects one assignee. Stories first, then epics, then delivery groups; the newest of each first.',
    access: org('viewer'),
    params: z.strictObject({
      memberId: MemberParam.optional(),
      agentId: AgentParam.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(Assignment),
    example: { memberId: '01936d5c-0000-7000-8000-000000000050' },
  }),
};
