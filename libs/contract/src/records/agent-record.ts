/** The outcomes of the work of agents, counted from what others decided and from leases. */
import { z } from 'zod';

export const agentRecordGroupings = ['agent', 'model', 'prompt'] as const;
export type AgentRecordGrouping = (typeof agentRecordGroupings)[number];

export const AgentRecord = z
  .object({
    key: z
      .object({ id: z.string().nullable(), name: z.string() })
      .describe('id is null for work without a reported model'),
    started: z.int().describe('Stories that agents acquired'),
    stalled: z.int().describe('Stories on which a lease of an agent expired'),
    submitted: z.int().describe('Stories that agents submitted'),
    sentBack: z
      .int()
      .describe('Stories among these that were sent back: changes requested, or pull request closed'),
    submittedFirst: z.int().describe('Stories whose first submission was by the agent'),
    acceptedFirst: z
      .int()
      .describe('Stories among these whose first submission was merged or approved without being sent back'),
    landed: z.int().describe('Stories that were merged or, where no repository is linked, approved and done'),
    reverted: z.int().describe('Stories whose merged work was reverted'),
    costs: z
      .array(
        z.object({
          currency: z.string(),
          costMicros: z.int(),
          costPerLanded: z.int().nullable().describe('costMicros divided by landed'),
        }),
      )
      .describe('The reported costs on the stories, by currency, highest first; at most 5'),
  })
  .meta({ id: 'AgentRecord' });
export type AgentRecord = z.infer<typeof AgentRecord>;
