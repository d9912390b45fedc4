import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Id, ProjectRef } from '../kernel/values.ts';
import { Broadcast, BroadcastLevel, BroadcastMessage } from '../records/broadcast.ts';

const dayInSeconds = 86_400;

export const broadcasts = {
  send: operation({
    name: 'broadcasts.send',
    effect: 'write',
    summary: 'Tell many people at once',
    keywords: 'announce announcement notify everyone everybody message all team company inform warn outage',
    description: `For those who may see a project (as a contributor of it), for a team, for those in the team who may see the project, or for the whole organization (as an admin). A token that is bound to projects sends to those alone. recipients counts them without the sender.`,
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
      message: 'We merge nothing into main until the release is out.',
      level: 'warning',
      projectId: 'WEB',
    },
  }),
  list: operation({
    name: 'broadcasts.list',
    effect: 'read',
    summary: 'List the broadcasts meant for you',
    keywords: 'announcements messages',
    description: `Newest first, with your own. Those past their time are left out unless you ask for them.`,
    access: org('viewer'),
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      includeExpired: z.boolean().default(false),
      ...page,
    }),
    result: pageOf(Broadcast),
    example: { includeExpired: true },
  }),
};
