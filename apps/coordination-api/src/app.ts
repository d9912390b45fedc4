/** coordination-api, put together from its configuration; nothing listens yet. */
import { createFollowers, createPool, migrationNames, type Pool } from '@muster/database';
import { createAuthenticator, toApiError } from '@muster/runtime';
import { type Check, createService, redisCheck, type Service } from '@muster/service';
import { type Logger } from 'pino';
import { type Config } from './config.ts';
import { byName, handlersOf, performable, reactions } from './handlers.ts';
import { addressesOf } from './http/discovery/addresses.ts';
import { addDiscoveryRoutes } from './http/discovery/routes.ts';
import { allowOrigins } from './http/origins.ts';
import { addInvitationRoutes } from './http/invitations.ts';
import { addMcpForward } from './http/mcp.ts';
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
  const allHandlers = handlersOf({ seatPrices: config.SEAT_PRICING });
  const followers = createFollowers(pool);
  // Whoever waits for events is answered with what there is, so that nobody holds up the stop.
  service.app.addHook('preClose', async () => {
    followers.close();
  });
  addOperationRoutes(service.app, {
    pool,
    authenticator,
    handlers: byName(allHandlers),
    surroundings: {
      handlers: performable(allHandlers),
      reactions,
      waitFor: (orgId, { seconds, ...awaited }) => followers.wait({ orgId, ...awaited }, seconds),
    },
    aside: service.aside,
    metrics: service.metrics,
    logger,
  });
  allowOrigins(service.app, config.CORS_ORIGINS);
  addInvitationRoutes(service.app, { pool, reactions, logger });
  const forward =
    config.MCP_GATEWAY_URL === undefined
      ? undefined
      : addMcpForward(service.app, { gatewayUrl: config.MCP_GATEWAY_URL, aside: service.aside });

  void service.app.register(async (app) => addDiscoveryRoutes(app, addressesOf(config)));

  return {
    service,
    pool,
    close: async () => {
      await authenticator.close();
      await forward?.close();
      redis?.close();
      await pool.end();
    },
  };
}
