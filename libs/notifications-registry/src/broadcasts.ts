import { z } from 'zod';
import {
  org,
  operation,
  pageParams,
  pageSchemaOf,
  Id,
  ProjectRef,
  Broadcast,
  BroadcastLevel,
  BroadcastMessage,
} from '@muster/contract';

const dayInSeconds = 86_400;

export const broadcasts = {
  send: operation({
    name: 'broadcasts.send',
    effect: 'write',
    summary: 'Send a message to many people',
    keywords: 'announce announcement notify everyone everybody message all team company inform warn outage',
    description:
      'Sends to the members who may see a project (requires contributor), to a team, to the team members who may see the project, or to the whole organization (requires admin). A token limited to projects can send only to those. recipients in the result does not count the sender.',
    access: org('member', 'admin', 'sendsToFew'),
    staysInProjects: true,
    params: z.strictObject({
      message: BroadcastMessage,
      level: BroadcastLevel.default('info'),
      projectId: ProjectRef.optional(),
      teamId: Id.optional(),
      expiresInSeconds: z
        .int()
        .min(1)
        .max(30 * dayInSeconds)
        .default(7 * dayInSeconds),
    }),
    result: z.object({ broadcast: Broadcast, recipients: z.int() }),
    refusals: ['archived'],
    emits: ['broadcast.posted'],
    example: {
      message: 'Please merge nothing into main until the release is out.',
      level: 'warning',
      projectId: 'WEB',
    },
  }),
  list: operation({
    name: 'broadcasts.list',
    effect: 'read',
    summary: 'List the broadcasts sent to you',
    keywords: 'announcements messages',
    description: 'Newest first, including your own. Expired broadcasts only with includeExpired.',
    access: org('viewer'),
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      includeExpired: z.boolean().default(false),
      ...pageParams,
    }),
    result: pageSchemaOf(Broadcast),
    example: { includeExpired: true },
  }),
};
