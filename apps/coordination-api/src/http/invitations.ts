/** Accepting an invitation, without a token: a form for people, and the path that it posts to. */
import { acceptInvitation } from '@muster/organizations';
import { type Reaction } from '@muster/runtime';
import { type Pool } from '@muster/database';
import { ApiError, describeSpan, type Metrics } from '@muster/http';
import { type FastifyInstance } from 'fastify';
import { type Logger } from 'pino';
import { invitationPage, pageHeaders } from './invitationPage.ts';

export interface InvitationRoutes {
  readonly pool: Pool;
  readonly reactions: readonly Reaction[];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

const path = '/invitations/accept';
/** No operation of the contract, and counted and said like one. */
const operation = 'invitations.accept';
/** A token and a name; there is no reason to read more from an unknown sender. */
const bodyLimit = 16 * 1024;

export function addInvitationRoutes(
  app: FastifyInstance,
  { pool, reactions, metrics, logger }: InvitationRoutes,
): void {
  const count = metrics.operation(operation);
  app.get(path, (_request, reply) => reply.headers(pageHeaders).send(invitationPage));

  app.post(path, { bodyLimit }, async (request, reply) => {
    const facts = {
      requestId: request.id,
      ip: request.ip,
      userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
    };
    request.operation = operation;
    let outcome = 'internal';
    let reason: string | undefined;
    let memberId: string | undefined;
    try {
      const accepted = await acceptInvitation(pool, request.body ?? {}, facts, reactions);
      outcome = 'ok';
      memberId = accepted.member.id;
      return await reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(JSON.stringify(accepted));
    } catch (error) {
      if (error instanceof ApiError) [outcome, reason] = [error.code, error.details.reason];
      throw error;
    } finally {
      count(outcome, reply.elapsedTime / 1_000);
      describeSpan(operation, { 'muster.outcome': outcome });
      const durationMs = Math.round(reply.elapsedTime * 10) / 10;
      logger.info({ requestId: request.id, operation, memberId, outcome, reason, durationMs }, 'operation');
    }
  });
}
