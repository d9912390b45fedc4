/** Sessions: the browsers in which a person is signed in. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';

export const Session = z
  .object({
    id: Id,
    current: z.boolean().describe('Whether it is the session that made this call'),
    userAgent: z.string().nullable(),
    ip: z.string().nullable().describe('The IP address at sign-in'),
    createdAt: Time,
    lastSeenAt: Time.describe('Accurate to the minute'),
    expiresAt: Time.describe('Extended by use, up to 90 days after sign-in'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;
