/** The outcomes of the work of agents, counted from what others decided and from leases. */
import { z } from 'zod';

export const agentRecordGroupings = ['agent', 'model', 'prompt'] as const;
export type AgentRecordGrouping = (typeof agentRecordGroupings)[number];

export const AgentRecord = z
  .object({
    key: z
      .object({ id: z.string().nullable(), name: z.string() })
      .describe('id is null for work without a reported model'),
    leases: z.int().describe('Leases that agents acquired'),
    stalls: z.int().describe('Leases among these that expired'),
    submitted: z.int().describe('Stories that were submitted for the first time'),
    acceptedFirst: z
      .int()
      .describe('Stories among these that were merged or approved without being sent back'),
    submissions: z.int().describe('All submissions, repeated ones included'),
    changesRequested: z
      .int()
      .describe('Submissions among these that were sent back: changes requested, or pull request closed'),
    landed: z.int().describe('Stories that were merged, or approved where no repository is linked'),
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
