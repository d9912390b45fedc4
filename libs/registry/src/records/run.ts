/** Runs of agents, and of people at work, with their last reported state. */
import { z } from 'zod';
import { Id, boundedText, Time } from '../kernel/values.ts';
import { MemberRef } from './member.ts';

export const runEventKinds = [
  'started',
  'heartbeat',
  'progress',
  'message',
  'tool_call',
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
export const RunMessage = boundedText(2000);

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
