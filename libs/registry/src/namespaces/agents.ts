import { z } from 'zod';
import { org, project } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { AgentParam, Id, jsonObject, MemberParam, ProjectRef, StoryRef, text } from '../kernel/values.ts';
import { RunId } from '../records/execution.ts';
import { AgentName } from '../records/member.ts';
import { ActiveRun, mostRunDataBytes, Run, RunEventKind, RunMessage } from '../records/run.ts';
import { Agent, AgentSlug } from '../records/token.ts';
import { catalog } from './agents-catalog.ts';

export const agents = {
  runEvent: operation({
    name: 'agents.runEvent',
    effect: 'write',
    summary: 'Say how a run goes on',
    keywords: 'heartbeat report run log progress started failed',
    description: `A run is begun by its first event, of whatever kind, and belongs to the member and agent that sent it. waiting makes it wait; heartbeat and message leave it as it is; started, progress and tool_call have it running. completed, failed and canceled end it for good: after that only the same again is accepted, and changes nothing. So does a dedupeKey that is among the run's newest hundred. A run ends too with the execution that it holds: when that is completed, or taken over. runId is the client's own, in each project for itself.`,
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      runId: RunId,
      kind: RunEventKind,
      agentId: AgentParam.optional(),
      storyId: StoryRef.optional(),
      executionId: Id.optional(),
      message: RunMessage.optional(),
      data: jsonObject(mostRunDataBytes).optional(),
      dedupeKey: text(255, 1).optional().meta({ description: 'The same event again changes nothing' }),
    }),
    result: z.object({ run: Run }),
    refusals: ['run_ended', 'mismatched_project', 'archived'],
    emits: ['run.started', 'run.completed', 'run.failed', 'run.canceled'],
    example: { projectId: 'WEB', runId: 'run-1', kind: 'progress', message: 'The tests pass' },
  }),
  listActive: operation({
    name: 'agents.listActive',
    effect: 'read',
    summary: 'List who is at work in projects that are not archived',
    keywords: 'who is working right now busy agents running online',
    description: `Runs that have not ended, and live leases whose run sent nothing, newest first; derived from events and leases at the moment of asking. A run is stalled after 90 seconds without an event and without a live lease; after 24 hours of that it is not listed any more. Only of projects that you may see; of an archived one where it is named.`,
    access: org('viewer'),
    params: z.strictObject({ projectId: ProjectRef.optional(), agentId: AgentParam.optional(), ...page }),
    result: pageOf(ActiveRun),
    example: { projectId: 'WEB' },
  }),
  create: operation({
    name: 'agents.create',
    effect: 'write',
    summary: 'Make an agent of yours, for which you then make tokens',
    keywords: 'new bot assistant identity register',
    description: `It acts for you, with your role at most, and stands under its own name in all that it does. A name and a slug that an agent of yours has, or had, are taken. At most 50 agents of a member that are not retired.`,
    access: org('member'),
    byMemberOnly: true,
    surfaces: notAsTool,
    params: z.strictObject({ name: AgentName, slug: AgentSlug.optional() }),
    result: z.object({ agent: Agent }),
    refusals: ['already_exists', 'limit_exceeded'],
    emits: ['agent.created'],
    example: { name: 'Claude' },
  }),
  list: operation({
    name: 'agents.list',
    effect: 'read',
    summary: 'List your agents',
    keywords: 'bots assistants mine',
    description: `Newest first: your own; for admins with the scope admin, all of the organization. Those that are retired only with includeRetired.`,
    access: org('member'),
    byMemberOnly: true,
    surfaces: notAsTool,
    params: z.strictObject({
      memberId: MemberParam.optional(),
      includeRetired: z.boolean().default(false),
      ...page,
    }),
    result: pageOf(Agent),
    example: {},
  }),
  retire: operation({
    name: 'agents.retire',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Retire an agent for good',
    keywords: 'delete remove disable stop bot',
    description: `Yours; for admins with the scope admin, any of the organization. At once: its tokens are refused, its leases and locks are freed, its runs end, what it was offered, assigned or asked to review is taken back. What it did stays, under its name. Retiring one again changes nothing.`,
    access: org('member'),
    byMemberOnly: true,
    surfaces: notAsTool,
    auditsRefusal: true,
    params: z.strictObject({ agentId: AgentParam }),
    result: z.object({ agent: Agent }),
    emits: ['agent.retired'],
    example: { agentId: '01936d5c-0000-7000-8000-0000000000b1' },
  }),
  catalog,
};
