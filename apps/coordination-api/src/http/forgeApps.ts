/** Creates a GitHub App in a browser, without a token: a page, and the URL that GitHub redirects to. */
import { type Pool } from '@muster/driver';
import { appPagePath, type ForgesConfig, readAppPage, acceptAppCode } from '@muster/forges';
import {
  ApiError,
  createMemoryStore,
  type Metrics,
  networkOf,
  type Rate,
  requireWithinLimits,
  createCallRecorder,
  sendRenderedPage,
} from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { z } from 'zod';
import { renderForgeAppPage, renderRefusedPage } from './forgeAppPage.ts';

export interface ForgeAppRouteOptions {
  readonly pool: Pool;
  readonly forgesConfig: ForgesConfig;
  /** Rate limit per address for refused requests. */
  readonly refusedRequestRate: Rate;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

const queryParameterText = z.string().max(1_000).catch('');
const AppPageQuery = z.object({
  ticket: queryParameterText,
  state: queryParameterText,
  code: queryParameterText,
  organization: z.string().trim().min(1).max(100).optional().catch(undefined),
  made: z.literal('1').optional().catch(undefined),
});

type AppRequest = FastifyRequest<{ Params: { connectionId: string } }>;

export function addForgeAppRoutes(app: FastifyInstance, options: ForgeAppRouteOptions): void {
  const { pool, forgesConfig: setUp, refusedRequestRate } = options;
  const recordCall = createCallRecorder('forges.makeApp', options);
  const store = createMemoryStore();

  const answering =
    (
      answer: (
        request: AppRequest,
        reply: FastifyReply,
        query: z.infer<typeof AppPageQuery>,
      ) => Promise<FastifyReply>,
    ) =>
    async (request: AppRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { connectionId } = request.params;
      try {
        return await recordCall(request, { connectionId }, async () => {
          const share = { key: networkOf(request.ip), rate: refusedRequestRate };
          requireWithinLimits(await store.take([share]), 'delivery_limit');
          const answered = await answer(request, reply, AppPageQuery.parse(request.query));
          // The token of a successful request is given back, because the page refreshes until the keys of the
          // GitHub App are there.
          await store.refund([share]);
          return answered;
        });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return sendRenderedPage(reply, renderRefusedPage(error.message), error.status);
      }
    };

  app.get(
    '/hooks/forges/:connectionId/app',
    answering(async (request, reply, { ticket, organization, made }) => {
      const { connectionId } = request.params;
      const shown = await readAppPage(pool, setUp, { connectionId, ticket, organization });
      const path = appPagePath(connectionId);
      return sendRenderedPage(
        reply,
        renderForgeAppPage(shown, { ticket, path, organization, isAppCreated: made !== undefined }),
      );
    }),
  );

  app.get(
    '/hooks/forges/:connectionId/app/made',
    answering(async (request, reply, { state: ticket, code }) => {
      const { connectionId } = request.params;
      await acceptAppCode(pool, setUp, { connectionId, ticket, code });
      return reply
        .headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
        .redirect(
          `${appPagePath(connectionId)}?${new URLSearchParams({ ticket, made: '1' }).toString()}`,
          303,
        );
    }),
  );
}
