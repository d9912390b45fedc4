/** Connections: the access that people granted to programs by OAuth. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { GrantableScope } from './token.ts';

export const Connection = z
  .object({
    id: Id,
    client: z.object({
      name: z.string().describe("The program's own name for itself"),
      host: z
        .string()
        .nullable()
        .describe('The domain that vouches for the name; null if the program registered itself'),
    }),
    memberId: Id,
    agent: z.object({ id: Id, name: z.string() }).describe('The member or agent that the program acts as'),
    projectIds: z
      .array(Id)
      .nullable()
      .describe('The projects it is limited to; null means every project that its member may see'),
    scopes: z.array(GrantableScope),
    createdAt: Time,
    lastUsedAt: Time.nullable().describe('Accurate to the minute'),
    expiresAt: Time,
    revokedAt: Time.nullable(),
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof Connection>;
