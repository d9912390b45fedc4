/** A story as a board shows it: only the fields of a card, and who works on it now. */
import { z } from 'zod';
import { AgentRef } from './assignment.ts';
import { ExecutionState } from './execution.ts';
import { Actor, MemberRef } from './member.ts';
import { StorySummary } from './story.ts';
import { Time } from '../kernel/values.ts';

/** The states of an agent that was asked to work on a story. */
const agentResponseStates = ['picked_up', 'busy', 'listening', 'no_runner'] as const;

/** The response of an agent that was asked to work on a story. */
export const AgentResponse = z
  .object({
    agent: AgentRef,
    state: z
      .enum(agentResponseStates)
      .describe(
        'picked_up: it works on the story; busy: its runner works on another one; listening: its runner has not started yet; no_runner: no runner is listening',
      ),
  })
  .meta({ id: 'AgentResponse' });
export type AgentResponse = z.infer<typeof AgentResponse>;

/** The largest count that a card shows. */
export const maxCardCount = 100;

const Count = z.int().min(0).max(maxCardCount);

export const StoryCard = StorySummary.pick({
  id: true,
  key: true,
  title: true,
  rank: true,
  columnId: true,
  status: true,
  priority: true,
  labels: true,
  estimate: true,
  epicId: true,
  parentId: true,
  dueDate: true,
  blocked: true,
  updatedAt: true,
  version: true,
})
  .extend({
    assignees: z.object({ member: MemberRef.nullable(), agent: AgentRef.nullable() }),
    counts: z
      .object({
        openThreads: Count,
        openBlockers: Count.describe('Stories that this one waits for'),
        reviewers: Count,
      })
      .describe(`Each number stops at ${maxCardCount}`),
    children: z
      .object({ total: Count, done: Count })
      .nullable()
      .describe(
        `The number of its children, without canceled ones, and how many are done; each stops at ${maxCardCount}. null without children`,
      ),
    execution: z
      .object({
        id: z.string(),
        state: ExecutionState,
        holder: Actor.nullable().describe('null if the lease is free'),
        expiresAt: Time.nullable(),
        progress: z.int(),
        needsRework: z.boolean(),
      })
      .nullable()
      .describe('The execution (work on the story) that is not completed'),
    agentResponse: AgentResponse.nullable().describe(
      'The response of the assigned agent, otherwise of the agent that a member mentioned last; null if no agent was asked, others work on the story, or it is finished',
    ),
  })
  .meta({ id: 'StoryCard' });
export type StoryCard = z.infer<typeof StoryCard>;
