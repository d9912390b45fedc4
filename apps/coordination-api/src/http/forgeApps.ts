/** Making a GitHub App in a browser, without a token: a page, and the address that GitHub sends the browser back to. */
import { appPath, type ForgesSetUp, readAppPage, takeAppCode } from '@muster/forges';
import { type Pool } from '@muster/database';
import {
  ApiError,
  createMemoryStore,
  durationMillis,
  elapsedMillis,
  type Metrics,
  networkOf,
  type Rate,
  requireRoom,
} from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { z } from 'zod';
import { appPageHeaders, forgeAppPage, refusedPage } from './forgeAppPage.ts';

export interface ForgeApps {
  readonly pool: Pool;
  readonly setUp: ForgesSetUp;
  /** Visits from an address that are refused. */
  readonly refused: Rate;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** No operation of the contract, and counted and said like one. */
const operation = 'forges.makeApp';

const text = z.string().max(1_000).catch('');
const Query = z.object({
  ticket: text,
  state: text,
  code: text,
  organization: z.string().trim().min(1).max(100).optional().catch(undefined),
  made: z.literal('1').optional().catch(undefined),
});

type AppRequest = FastifyRequest<{ Params: { connectionId: string } }>;

export function addForgeApps(
  app: FastifyInstance,
  { pool, setUp, refused, metrics, logger }: ForgeApps,
): void {
  const count = metrics.operation(operation);
  const store = createMemoryStore();

  const answering =
    (answer: (request: AppRequest, reply: FastifyReply, query: z.infer<typeof Query>) => Promise<void>) =>
    async (request: AppRequest, reply: FastifyReply): Promise<FastifyReply> => {
      request.operation = operation;
      let outcome = 'internal';
      try {
        const share = { key: networkOf(request.ip), rate: refused };
        requireRoom(await store.take([share]), 'delivery_limit');
        await answer(request, reply, Query.parse(request.query));
        outcome = 'ok';
        // The page asks again until the keys are there.
        await store.giveBack([share]);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        outcome = error.code;
        reply.code(error.status).headers(appPageHeaders(undefined));
        await reply.send(refusedPage(error.message));
      } finally {
        count(outcome, elapsedMillis(request) / 1_000);
        const { connectionId } = request.params;
        const durationMs = durationMillis(request);
        logger.info({ requestId: request.id, operation, connectionId, outcome, durationMs }, 'operation');
      }
      return reply;
    };

  app.get(
    '/hooks/forges/:connectionId/app',
    answering(async (request, reply, { ticket, organization, made }) => {
      const { connectionId } = request.params;
      const shown = await readAppPage(pool, setUp, { connectionId, ticket, organization });
      const forge = shown.state === 'open' ? new URL(shown.action).origin : undefined;
      const path = appPath(connectionId);
      reply.headers(appPageHeaders(forge));
      await reply.send(forgeAppPage(shown, { ticket, path, organization, isMade: made !== undefined }));
    }),
  );

  app.get(
    '/hooks/forges/:connectionId/app/made',
    answering(async (request, reply, { state: ticket, code }) => {
      const { connectionId } = request.params;
      await takeAppCode(pool, setUp, { connectionId, ticket, code });
      await reply
        .headers(appPageHeaders(undefined))
        .redirect(`${appPath(connectionId)}?${new URLSearchParams({ ticket, made: '1' }).toString()}`, 303);
    }),
  );
}
