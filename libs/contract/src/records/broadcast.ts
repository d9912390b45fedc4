import { z } from 'zod';
import { Id, multilineText, Time } from '../kernel/values.ts';
import { Actor } from './member.ts';

export const broadcastLevels = ['info', 'warning', 'critical'] as const;
export const BroadcastLevel = z.enum(broadcastLevels);

export const BroadcastMessage = multilineText(4_000, 1).refine(
  (value) => value.trim().length > 0,
  'must not be blank',
);

export const Broadcast = z
  .object({
    id: Id,
    message: z.string(),
    level: BroadcastLevel,
    projectId: Id.nullable().describe('Only members who can see this project receive it; null means any'),
    teamId: Id.nullable().describe('Only members of this team receive it; null means any'),
    sender: Actor,
    expiresAt: Time,
    createdAt: Time,
    updatedAt: Time,
  })
  .meta({ id: 'Broadcast' });
export type Broadcast = z.infer<typeof Broadcast>;
