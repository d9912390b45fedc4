/**
 * Bull Board at /queues, for operators with a platform token. The token is sent as a bearer token, or as the
 * password of basic authentication.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { type Queues } from '@muster/redis/queues';
import { scopeCovers, scopeTooSmall } from '@muster/contract';
import { ApiError, type Authenticator, unauthorized } from '@muster/runtime';
import { sendError } from '@muster/http';
import { type FastifyInstance } from 'fastify';

const prefix = '/queues';

/**
 * The folder with the dashboard's pages that lies next to the bundle. Without a bundle, the pages come from
 * the package of the dashboard.
 */
const bundledPages = path.join(import.meta.dirname, 'bull-board-ui');

/** Returns the secret in `Authorization: Bearer <token>`, or the password of basic authentication. */
export function secretOf(header: string | undefined): string | undefined {
  const [scheme, rest = ''] = (header ?? '').split(' ', 2);
  if (/^bearer$/i.test(scheme ?? '')) return rest;
  if (!/^basic$/i.test(scheme ?? '')) return undefined;
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

async function requirePlatformToken(authenticator: Authenticator, header: string | undefined): Promise<void> {
  const secret = secretOf(header);
  if (secret === undefined) throw unauthorized();
  const { identity, verifyStillValid } = await authenticator.authenticate(secret);
  // Verify the token now, because no transaction follows that would do so.
  await verifyStillValid();
  if (!scopeCovers(identity.scopes, 'platform'))
    throw scopeTooSmall({ needed: 'platform', held: identity.scopes });
}

/**
 * Adds the dashboard, which is read-only: the jobs in Redis derive from the outbox, and `muster outbox
 * replay` retries them. Therefore a cross-site request with the browser's stored password does no harm.
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
        await requirePlatformToken(authenticator, request.headers.authorization);
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
