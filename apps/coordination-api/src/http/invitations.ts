/** How somebody with an invitation gets in, without a token: a form for people, and what it posts to, for everybody. */
import { acceptInvitation } from '@muster/people';
import { type Reaction } from '@muster/runtime';
import { type Pool } from '@muster/database';
import { type FastifyInstance } from 'fastify';
import { type Logger } from 'pino';
import { invitationPage, pageHeaders } from './invitationPage.ts';

export interface InvitationRoutes {
  readonly pool: Pool;
  readonly reactions: readonly Reaction[];
  readonly logger: Logger;
}

const path = '/invitations/accept';
/** A token and a name; there is no reason to read more from somebody unknown. */
const bodyLimit = 16 * 1024;

export function addInvitationRoutes(
  app: FastifyInstance,
  { pool, reactions, logger }: InvitationRoutes,
): void {
  app.get(path, (_request, reply) => reply.headers(pageHeaders).send(invitationPage));

  app.post(path, { bodyLimit }, async (request, reply) => {
    const facts = {
      requestId: request.id,
      ip: request.ip,
      userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
    };
    const accepted = await acceptInvitation(pool, request.body ?? {}, facts, reactions);
    logger.info({ requestId: request.id, memberId: accepted.member.id }, 'an invitation was accepted');
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(JSON.stringify(accepted));
  });
}
