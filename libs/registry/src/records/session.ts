/** Sessions: the browsers in which a person is signed in. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';

export const Session = z
  .object({
    id: Id,
    current: z.boolean().describe('Whether it is the one that calls'),
    userAgent: z.string().nullable(),
    ip: z.string().nullable().describe('Where it was begun from'),
    createdAt: Time,
    lastSeenAt: Time.describe('To the minute'),
    expiresAt: Time.describe('It moves with use, to 90 days after the beginning at most'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;
