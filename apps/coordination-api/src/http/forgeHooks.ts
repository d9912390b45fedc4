/**
 * Receives deliveries from forges. They carry no token and are authenticated by their signature. The raw
 * bytes are stored, because signatures cover them. A job parses them later, so that the response is
 * immediate.
 */
import { type Pool } from '@muster/driver';
import { receiveDelivery } from '@muster/forges';
import { type SecretCipher } from '@muster/outbound';
import {
  createMemoryStore,
  type Metrics,
  networkOf,
  type Rate,
  requireWithinLimits,
  type CallFacts,
  createCallRecorder,
} from '@muster/http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';

export interface ForgeHookRouteOptions {
  readonly pool: Pool;
  readonly seals: SecretCipher;
  /** Rate limit per connection for accepted deliveries. */
  readonly acceptedDeliveryRate: Rate;
  /** Rate limit per address for refused deliveries. */
  readonly refusedDeliveryRate: Rate;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Maximum size of a delivery. GitHub's limit is 25 MiB; the fields in use are in the first few KiB. */
const bodyLimit = 5 * 1024 * 1024;

type HookRequest = FastifyRequest<{ Params: { connectionId: string } }>;

export function addForgeHookRoutes(app: FastifyInstance, options: ForgeHookRouteOptions): void {
  const { pool, seals, acceptedDeliveryRate, refusedDeliveryRate } = options;
  const recordCall = createCallRecorder('forges.deliver', options);
  const store = createMemoryStore();
  const take = async (key: string, rate: Rate): Promise<void> => {
    requireWithinLimits(await store.take([{ key, rate }]), 'delivery_limit');
  };

  void app.register(async (scope) => {
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
      done(null, bytes);
    });
    scope.post(
      '/hooks/forges/:connectionId',
      {
        bodyLimit,
        onRequest: async (request: HookRequest) => {
          const { connectionId } = request.params;
          // Refused deliveries count against their address and accepted ones against their connection, so
          // that no sender uses up another's limit.
          await take(`refused ${networkOf(request.ip)}`, refusedDeliveryRate);
          request.party = `forge ${connectionId}`;
        },
      },
      async (request: HookRequest, reply) => {
        const { connectionId } = request.params;
        const said: CallFacts = { connectionId };
        const { isNew } = await recordCall(request, said, async () => {
          const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
          const received = await receiveDelivery(pool, seals, {
            ...{ connectionId, headers: request.headers, body },
            checkRateLimit: () => take(`connection ${connectionId}`, acceptedDeliveryRate),
          });
          await store.refund([{ key: `refused ${networkOf(request.ip)}`, rate: refusedDeliveryRate }]);
          said.orgId = received.orgId;
          if (!received.isNew) said.outcome = 'replayed';
          return received;
        });
        return reply
          .code(202)
          .header('content-type', 'application/json; charset=utf-8')
          .header('cache-control', 'no-store')
          .send(JSON.stringify({ accepted: true, repeated: !isNew }));
      },
    );
  });
}
