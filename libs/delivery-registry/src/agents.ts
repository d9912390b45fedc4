import { z } from 'zod';
import {
  org,
  project,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  AgentParam,
  Id,
  jsonObject,
  ProjectRef,
  StoryRef,
  boundedText,
  Instant,
  textWithinBytes,
  AgentRecord,
  agentRecordGroupings,
  RunId,
  ActiveRun,
  maxLinesPerLogEvent,
  maxLogLineBytes,
  maxRunDataBytes,
  maxRunMessageChars,
  NewRunLogLine,
  Run,
  RunEventKind,
  RunLogStream,
  runLogStreams,
  RunMessage,
  UsageReport,
} from '@muster/contract';
import { catalog } from './agents-catalog.ts';
import { runs } from './agents-runs.ts';

/** The part of the namespace `agents` for their work and their catalog. */
export const agents = {
  runEvent: operation({
    name: 'agents.runEvent',
    effect: 'write',
    summary: 'Report an event of a run',
    keywords: 'heartbeat report run log output lines progress started failed',
    description:
      "The first event of any kind starts a run, which belongs to the member and agent that sent it. waiting sets it to waiting; started, progress and tool_call set it to running; heartbeat, message and log do not change it. log adds lines to the log of the run (agents.runs.log): message, from data.stream, or lines; the newest 5,000 lines are kept, and lastEvent does not show them. completed, failed and canceled end it for good; after that only a repetition of the same event is accepted, without effect. An event whose dedupeKey is among the run's newest hundred also has no effect. A run also ends when its execution is completed or taken over. You choose runId, unique in its project.",
    access: project('contributor'),
    params: z
      .strictObject({
        projectId: ProjectRef,
        runId: RunId,
        kind: RunEventKind,
        agentId: AgentParam.optional(),
        storyId: StoryRef.optional(),
        executionId: Id.optional(),
        message: textWithinBytes(maxLogLineBytes).optional(),
        lines: z.array(NewRunLogLine).min(1).max(maxLinesPerLogEvent).optional(),
        data: jsonObject(maxRunDataBytes).optional(),
        usage: UsageReport.optional(),
        dedupeKey: boundedText(255, 1)
          .optional()
          .meta({ description: 'Repeating an event with the same key has no effect' }),
      })
      .refine(({ kind, message }) => kind === 'log' || RunMessage.safeParse(message ?? '').success, {
        error: `must have at most ${maxRunMessageChars} characters`,
        path: ['message'],
      })
      .refine(
        ({ kind, lines, message }) =>
          kind === 'log' ? (lines ?? message) !== undefined : lines === undefined,
        {
          error: 'must be given for the kind log, or message, and only for it',
          path: ['lines'],
        },
      )
      .refine(
        ({ kind, data }) =>
          kind !== 'log' || data?.['stream'] === undefined || RunLogStream.safeParse(data['stream']).success,
        { error: `must be one of ${runLogStreams.join(', ')}`, path: ['data', 'stream'] },
      ),
    result: z.object({ run: Run }),
    refusals: ['run_ended', 'mismatched_project', 'archived'],
    emits: ['run.started', 'run.completed', 'run.failed', 'run.canceled', 'budget.warned'],
    example: { projectId: 'WEB', runId: 'run-1', kind: 'progress', message: 'The tests pass' },
  }),
  listActive: operation({
    name: 'agents.listActive',
    effect: 'read',
    summary: 'List active runs in projects that are not archived',
    keywords: 'who is working right now busy agents running online',
    description:
      'Runs that have not ended, and live leases whose run sent no event, newest first, computed at the time of the call. A run without an event for 90 seconds and without a live lease is stalled; after 24 hours it is no longer listed. Only in projects that you may see; an archived project is included if projectId names it.',
    access: org('viewer'),
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      agentId: AgentParam.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(ActiveRun),
    example: { projectId: 'WEB' },
  }),
  record: operation({
    name: 'agents.record',
    effect: 'read',
    summary: 'Count how the work of agents turned out',
    keywords: 'accepted rework stalls reverted quality statistics compare model prompt cost per landed story',
    description:
      'Counts of stories that agents began to work on from `from` to `to` (whole UTC days, by default the last 30, at most 366), in projects that you may see; most stories first. The newest 10,000 executions count. A story counts once for an agent, however often the agent starts again. Verdicts of others, facts that the forge verified, reverts and expired leases decide; approvals by an agent of the same member do not count. Models and costs are what runs reported. Work counts for a prompt if it began after the last change of the prompt, which applied to its project.',
    access: org('viewer'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      groupBy: z.enum(agentRecordGroupings),
      projectId: ProjectRef.optional(),
      from: Instant.optional(),
      to: Instant.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(AgentRecord),
    example: { groupBy: 'agent', projectId: 'WEB' },
  }),
  catalog,
  runs,
};
