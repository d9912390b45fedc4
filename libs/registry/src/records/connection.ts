/** Connections: the access that people granted to programs by OAuth. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { GivenScope } from './token.ts';

/** The maximum number of active connections of a member. */
export const mostConnections = 100;

export const Connection = z
  .object({
    id: Id,
    client: z.object({
      name: z.string().describe('As it calls itself'),
      host: z.string().nullable().describe('Who vouches for the name; null where it registered itself'),
    }),
    memberId: Id,
    agent: z.object({ id: Id, name: z.string() }).describe('As whom it acts'),
    projectIds: z
      .array(Id)
      .nullable()
      .describe('The projects it is bound to; null: every project that its member may see'),
    scopes: z.array(GivenScope),
    createdAt: Time,
    lastUsedAt: Time.nullable().describe('To the minute'),
    expiresAt: Time,
    revokedAt: Time.nullable(),
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof Connection>;
