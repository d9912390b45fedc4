/** Runs of agents, and of people at work, with their last reported state. */
import { z } from 'zod';
import { Id, boundedText, textWithinBytes, Time } from '../kernel/values.ts';
import { Attachment } from './attachment.ts';
import { Execution, ExecutionEvent } from './execution.ts';
import { MemberRef } from './member.ts';
import { RunUsage } from './usage.ts';
import { StoryStatus } from './project.ts';

export const runEventKinds = [
  'started',
  'heartbeat',
  'progress',
  'message',
  'tool_call',
  'log',
  'waiting',
  'completed',
  'failed',
  'canceled',
] as const;
export const RunEventKind = z.enum(runEventKinds);
export type RunEventKind = z.infer<typeof RunEventKind>;

export const finalRunStates = ['completed', 'failed', 'canceled'] as const;
export type FinalRunState = (typeof finalRunStates)[number];
export const runStates = ['running', 'waiting', ...finalRunStates] as const;
/** The state of a run according to its own events. Only agents.listActive determines whether a run is stalled. */
export const RunState = z.enum(runStates);
export type RunState = z.infer<typeof RunState>;

/** The maximum size of an event's data, 16 KiB. */
export const maxRunDataBytes = 16 * 1024;
/** The maximum length of the message of an event that is no line of the log. */
export const maxRunMessageChars = 2000;
export const RunMessage = boundedText(maxRunMessageChars);

/** The newest lines of a run's log that are kept. */
export const maxRunLogLines = 5_000;
/** The most lines that one event can add to the log. */
export const maxLinesPerLogEvent = 200;
export const maxLogLineBytes = 8 * 1024;

export const runLogStreams = ['stdout', 'stderr', 'tool'] as const;
export const RunLogStream = z.enum(runLogStreams);
export type RunLogStream = z.infer<typeof RunLogStream>;

/** A line of the log as an agent reports it. */
export const NewRunLogLine = z.strictObject({
  stream: RunLogStream.default('stdout'),
  message: textWithinBytes(maxLogLineBytes),
});
export type NewRunLogLine = z.infer<typeof NewRunLogLine>;

export const RunLogLine = z
  .object({
    line: z.int().min(1).describe('The number of the line in the log of the run, from 1 without gaps'),
    stream: RunLogStream,
    message: z.string(),
    at: Time,
  })
  .meta({ id: 'RunLogLine' });
export type RunLogLine = z.infer<typeof RunLogLine>;

export const RunEvent = z
  .object({
    kind: RunEventKind,
    message: z.string().nullable(),
    data: z.record(z.string(), z.unknown()).nullable(),
    at: Time,
  })
  .meta({ id: 'RunEvent' });
export type RunEvent = z.infer<typeof RunEvent>;

export const Run = z
  .object({
    runId: z.string(),
    agentId: Id.nullable(),
    member: MemberRef,
    projectId: Id,
    storyId: Id.nullable(),
    executionId: Id.nullable().describe('The execution that it holds or held last; the run ends with it'),
    state: RunState,
    lastEvent: RunEvent,
    startedAt: Time,
    lastSeenAt: Time,
    endedAt: Time.nullable(),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof Run>;

/** A run as lists show it, with its agent and a summary of its story. */
export const ListedRun = Run.extend({
  agent: z.object({ id: Id, name: z.string() }).nullable().describe('null if the member worked in person'),
  story: z.object({ id: Id, key: z.string(), title: z.string(), status: StoryStatus }).nullable(),
}).meta({ id: 'ListedRun' });
export type ListedRun = z.infer<typeof ListedRun>;

/** The most steps that agents.runs.get returns. */
export const maxRunSteps = 200;

export const runDetails = {
  run: ListedRun,
  steps: z
    .array(ExecutionEvent)
    .describe(`The events of its execution while the run held it: the newest ${maxRunSteps}, oldest first`),
  usage: z.array(RunUsage).describe('Its totals, per model and currency'),
  execution: Execution.nullable().describe('Its execution as it is now; null if it named none'),
  evidence: z.array(Attachment).describe('The attachments of its execution, newest first, at most 200'),
};

export const ActiveRun = z
  .object({
    runId: z.string().nullable().describe('null for a lease that was acquired without a run'),
    agent: z.object({ id: Id, name: z.string() }).nullable().describe('null if the member works in person'),
    member: MemberRef,
    projectId: Id,
    storyKey: z.string().nullable(),
    executionId: Id.nullable(),
    state: z.enum(['running', 'waiting', 'stalled']),
    lastEvent: RunEvent.nullable().describe('null for a live lease whose run sent no event'),
    startedAt: Time.describe(
      'The start of the run; for a lease whose run sent no event, the start of the lease',
    ),
    lastSeenAt: Time.describe('When the last event or renewal arrived'),
  })
  .meta({ id: 'ActiveRun' });
export type ActiveRun = z.infer<typeof ActiveRun>;
