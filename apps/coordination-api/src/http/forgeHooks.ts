/**
 * Where forges deliver. No token: a delivery is taken for what it is signed with. The bytes are kept as they came, since
 * signatures are over them; what they say is read by a job, so the answer goes out at once.
 */
import { type Pool } from '@muster/driver';
import { receiveDelivery } from '@muster/forges';
import { type Seals } from '@muster/outbound';
import {
  createMemoryStore,
  type Metrics,
  networkOf,
  type Rate,
  requireRoom,
  type CallFacts,
  createCallRecorder,
} from '@muster/http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';

export interface ForgeHooks {
  readonly pool: Pool;
  readonly seals: Seals;
  /** Deliveries of one connection. */
  readonly deliveries: Rate;
  /** Deliveries from an address that are refused. */
  readonly refused: Rate;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** GitHub cuts its own at 25 MiB; what is mapped is in the first few KiB. */
const bodyLimit = 5 * 1024 * 1024;

type HookRequest = FastifyRequest<{ Params: { connectionId: string } }>;

export function addForgeHooks(app: FastifyInstance, options: ForgeHooks): void {
  const { pool, seals, deliveries, refused } = options;
  const recordCall = createCallRecorder('forges.deliver', options);
  const store = createMemoryStore();
  const take = async (key: string, rate: Rate): Promise<void> => {
    requireRoom(await store.take([{ key, rate }]), 'delivery_limit');
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
          // What is refused costs its address, and what is taken its connection: no sender uses up the share of another.
          await take(`refused ${networkOf(request.ip)}`, refused);
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
            admit: () => take(`connection ${connectionId}`, deliveries),
          });
          await store.giveBack([{ key: `refused ${networkOf(request.ip)}`, rate: refused }]);
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
