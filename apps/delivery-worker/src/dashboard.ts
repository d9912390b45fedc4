/** Bull Board at /queues, for operators with a platform token: as a bearer, or as the password that a browser asks for. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { type Queues } from '@muster/redis/queues';
import { scopeCovers, scopeTooSmall } from '@muster/registry';
import { ApiError, type Authenticator, unauthorized } from '@muster/runtime';
import { sendError } from '@muster/http';
import { type FastifyInstance } from 'fastify';

const prefix = '/queues';

/** The board's pages, beside a bundle; else in its package. */
const bundledPages = path.join(import.meta.dirname, 'bull-board-ui');

/** The secret in `Authorization: Bearer <token>`, or in Basic's password. */
export function secretOf(header: string | undefined): string | undefined {
  const [scheme, rest = ''] = (header ?? '').split(' ', 2);
  if (/^bearer$/i.test(scheme ?? '')) return rest;
  if (!/^basic$/i.test(scheme ?? '')) return undefined;
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

async function admit(authenticator: Authenticator, header: string | undefined): Promise<void> {
  const secret = secretOf(header);
  if (secret === undefined) throw unauthorized();
  const { identity, confirm } = await authenticator.authenticate(secret);
  // No transaction behind this page would check the token again.
  await confirm();
  if (!scopeCovers(identity.scopes, 'platform'))
    throw scopeTooSmall({ needed: 'platform', held: identity.scopes });
}

/**
 * It shows and changes nothing: what is in Redis follows from the outbox, and is tried again by `muster outbox replay`.
 * So a foreign page that makes a browser send its password here does no harm either.
 */
export function addDashboard(
  app: FastifyInstance,
  queues: Pick<Queues, 'all'>,
  authenticator: Authenticator,
): void {
  const serverAdapter = new FastifyAdapter();
  createBullBoard({
    queues: queues.all.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: {
      uiConfig: { boardTitle: 'Muster' },
      ...(existsSync(bundledPages) && { uiBasePath: bundledPages }),
    },
  });
  serverAdapter.setBasePath(prefix);
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      try {
        await admit(authenticator, request.headers.authorization);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return sendError(reply, error, request.id);
      }
    });
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('x-frame-options', 'DENY');
      reply.header('cache-control', 'no-store');
      if (reply.statusCode === 401) reply.header('www-authenticate', 'Basic realm="Muster", charset="UTF-8"');
    });
    await scope.register(serverAdapter.registerPlugin(), { prefix });
  });
}
