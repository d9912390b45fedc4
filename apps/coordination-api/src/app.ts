/** coordination-api, put together from its configuration; nothing listens yet. */
import { createFollowers, createPool, migrationNames, type Pool } from '@muster/database';
import { createAuthenticator, toApiError } from '@muster/runtime';
import { type Check, createService, redisCheck, type Service } from '@muster/service';
import { type Logger } from 'pino';
import { type Config } from './config.ts';
import { byName, handlersOf, reactions } from './handlers.ts';
import { addInvitationRoutes } from './http/invitations.ts';
import { openApi } from './http/openapi.ts';
import { addOperationRoutes } from './http/operationRoutes.ts';

export interface CoordinationApi {
  readonly service: Service;
  readonly pool: Pool;
  /** After the service stopped: the connections. */
  readonly close: () => Promise<void>;
}

/** Requests answered at once, per connection of the pool: enough to keep it busy, few enough to stay quick. */
const inFlightPerConnection = 6;

function postgresCheck(pool: Pool): Check {
  const newest = migrationNames().at(-1);
  return {
    name: 'postgres',
    needed: true,
    run: async () => {
      const { rows } = await pool.query<{ name: string }>(
        'select name from kysely_migration where name = $1',
        [newest],
      );
      return rows.length === 1 ? undefined : 'the schema is not current';
    },
  };
}

export function createApp(config: Config, logger: Logger): CoordinationApi {
  const pool = createPool({
    url: config.DATABASE_URL,
    max: config.DATABASE_POOL,
    role: 'muster_app',
    name: 'coordination-api',
    onIdleError: (error) => {
      logger.warn({ err: error }, 'a connection to Postgres was lost');
    },
  });
  const redis = config.REDIS_URL === undefined ? undefined : redisCheck(config.REDIS_URL);
  const authenticator = createAuthenticator(pool);
  const service = createService({
    name: 'coordination-api',
    logger,
    checks: [postgresCheck(pool), ...(redis ? [redis.check] : [])],
    mostInFlight: config.DATABASE_POOL * inFlightPerConnection,
    trustProxy: config.TRUST_PROXY ?? false,
    toApiError,
  });
  const handlers = byName(handlersOf({ seatPrices: config.SEAT_PRICING }));
  const followers = createFollowers(pool);
  // Whoever waits for events is answered with what there is, so that nobody holds up the stop.
  service.app.addHook('preClose', async () => {
    followers.close();
  });
  addOperationRoutes(service.app, {
    pool,
    authenticator,
    handlers,
    surroundings: {
      handlers,
      reactions,
      waitFor: (orgId, { seconds, ...awaited }) => followers.wait({ orgId, ...awaited }, seconds),
    },
    aside: service.aside,
    metrics: service.metrics,
    logger,
  });
  addInvitationRoutes(service.app, { pool, reactions, logger });

  const description = JSON.stringify(openApi(config.BASE_URL ?? `http://127.0.0.1:${config.PORT}`));
  service.app.get('/openapi.json', (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(description),
  );

  return {
    service,
    pool,
    close: async () => {
      await authenticator.close();
      redis?.close();
      await pool.end();
    },
  };
}
