import { z } from 'zod';
import { org, project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Id, jsonObject, ProjectRef, StoryRef, text } from '../kernel/values.ts';
import { RunId } from '../records/execution.ts';
import { ActiveRun, mostRunDataBytes, Run, RunEventKind, RunMessage } from '../records/run.ts';
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
      agentId: Id.optional().meta({
        format: 'uuid',
        description: "An agent of yours that the run is; absent: the token's agent, or yourself",
      }),
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
    summary: 'List who is at work',
    keywords: 'who is working right now busy agents running online',
    description: `Runs that have not ended, and live leases whose run sent nothing, newest first; derived from events and leases at the moment of asking. A run is stalled after 90 seconds without an event and without a live lease; after 24 hours of that it is not listed any more. Only of projects that you may see.`,
    access: org('viewer'),
    params: z.strictObject({ projectId: ProjectRef.optional(), agentId: Id.optional(), ...page }),
    result: pageOf(ActiveRun),
    example: { projectId: 'WEB' },
  }),
  catalog,
};
