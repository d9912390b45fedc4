/** Creates a GitHub App in a browser, without a token: a page, and the URL that GitHub redirects to. */
import { type Pool } from '@muster/driver';
import { appPath, type ForgesSetUp, readAppPage, takeAppCode } from '@muster/forges';
import {
  ApiError,
  createMemoryStore,
  type Metrics,
  networkOf,
  type Rate,
  type RenderedPage,
  requireRoom,
  createCallRecorder,
} from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { z } from 'zod';
import { forgeAppPage, refusedPage } from './forgeAppPage.ts';

export interface ForgeApps {
  readonly pool: Pool;
  readonly setUp: ForgesSetUp;
  /** Rate limit per address for refused requests. */
  readonly refused: Rate;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

const text = z.string().max(1_000).catch('');
const Query = z.object({
  ticket: text,
  state: text,
  code: text,
  organization: z.string().trim().min(1).max(100).optional().catch(undefined),
  made: z.literal('1').optional().catch(undefined),
});

type AppRequest = FastifyRequest<{ Params: { connectionId: string } }>;

const sendPage = (reply: FastifyReply, { headers, body }: RenderedPage): FastifyReply =>
  reply.headers(headers).send(body);

export function addForgeApps(app: FastifyInstance, options: ForgeApps): void {
  const { pool, setUp, refused } = options;
  const recordCall = createCallRecorder('forges.makeApp', options);
  const store = createMemoryStore();

  const answering =
    (
      answer: (
        request: AppRequest,
        reply: FastifyReply,
        query: z.infer<typeof Query>,
      ) => Promise<FastifyReply>,
    ) =>
    async (request: AppRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { connectionId } = request.params;
      try {
        return await recordCall(request, { connectionId }, async () => {
          const share = { key: networkOf(request.ip), rate: refused };
          requireRoom(await store.take([share]), 'delivery_limit');
          const answered = await answer(request, reply, Query.parse(request.query));
          // The token of a successful request is given back, because the page refreshes until the keys of the
          // GitHub App are there.
          await store.giveBack([share]);
          return answered;
        });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return sendPage(reply.code(error.status), refusedPage(error.message));
      }
    };

  app.get(
    '/hooks/forges/:connectionId/app',
    answering(async (request, reply, { ticket, organization, made }) => {
      const { connectionId } = request.params;
      const shown = await readAppPage(pool, setUp, { connectionId, ticket, organization });
      const path = appPath(connectionId);
      return sendPage(reply, forgeAppPage(shown, { ticket, path, organization, isMade: made !== undefined }));
    }),
  );

  app.get(
    '/hooks/forges/:connectionId/app/made',
    answering(async (request, reply, { state: ticket, code }) => {
      const { connectionId } = request.params;
      await takeAppCode(pool, setUp, { connectionId, ticket, code });
      return reply
        .headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
        .redirect(`${appPath(connectionId)}?${new URLSearchParams({ ticket, made: '1' }).toString()}`, 303);
    }),
  );
}
