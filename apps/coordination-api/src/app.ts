/** Assembles coordination-api from its configuration, without listening on a port yet. */
import { type Pool } from '@muster/driver';
import { type ForgesSetUp } from '@muster/forges';
import { webhooksSetUpOf } from '@muster/notifications';
import { handlersOf, performable, reactions } from '@muster/operations';
import { askOtherServers, claimSlug, nodeChecks, openNodes, type OpenNodes } from '@muster/placement';
import {
  type AllHandlers,
  byOperation,
  createAuthenticator,
  type HandlerEnvironment,
  toApiError,
  validationHoles,
} from '@muster/runtime';
import {
  createService,
  type Metrics,
  redisCheck,
  type Service,
  type SessionCookie,
  sessionCookieOf,
} from '@muster/http';
import { createFollowers, createStandby, type Followers, readOutcomes, type Standby } from '@muster/tenancy';
import compress from '@fastify/compress';
import { type FastifyInstance } from 'fastify';
import { type Logger } from 'pino';
import { type ApiConfig } from './config.ts';
import { addressesOf } from './http/discovery/addresses.ts';
import { missingPageOf } from './http/discovery/missing.ts';
import { addDiscoveryRoutes } from './http/discovery/routes.ts';
import { type Authenticate, createAuthenticate } from './http/authenticate.ts';
import { addConsoleForward } from './http/console.ts';
import { createHostGuard } from './http/hostGuard.ts';
import { type CallLimits, createCallLimits } from './http/limits.ts';
import { allowOrigins } from './http/origins.ts';
import { addForgeApps } from './http/forgeApps.ts';
import { addForgeHooks } from './http/forgeHooks.ts';
import { addInvitationRoutes } from './http/invitations.ts';
import { addEventStream, type EventStreamOptions } from './http/eventStream.ts';
import { addMcpForward } from './http/mcp.ts';
import { addOperationRoutes, type OperationRouteOptions } from './http/operationRoutes.ts';
import { addSignInForward } from './http/signIn.ts';

export interface CoordinationApi {
  readonly service: Service;
  readonly pool: Pool;
  /** Closes the connections. Call it after the service has stopped. */
  readonly close: () => Promise<void>;
}

/**
 * Maximum number of concurrent requests per pooled connection: enough to keep it busy, few enough to keep
 * response times short.
 */
// guard: calls in flight
const inFlightPerConnection = 6;

const openDatabase = (config: ApiConfig, logger: Logger): OpenNodes =>
  openNodes(
    {
      ...{
        url: config.DATABASE_URL,
        max: config.DATABASE_POOL,
        role: 'muster_app',
        name: 'coordination-api',
      },
      onIdleError: (error) => {
        logger.warn({ err: error }, 'a connection to Postgres was lost');
      },
    },
    config.DATABASE_NODES,
  );

/**
 * Opens a separate connection for readiness checks. A full pool must not make the API count as unavailable.
 */
const openReadiness = (config: ApiConfig): OpenNodes =>
  openNodes(
    { url: config.DATABASE_URL, max: 1, role: 'muster_app', name: 'coordination-api readiness' },
    config.DATABASE_NODES,
  );

const limitsOf = (config: ApiConfig, logger: Logger): CallLimits =>
  createCallLimits({
    token: config.LIMIT_TOKEN,
    organization: config.LIMIT_ORGANIZATION,
    redisUrl: config.REDIS_URL,
    timeoutMillis: config.LIMIT_TIMEOUT_MILLIS,
    logger,
  });

function standbyOf(config: ApiConfig, primary: Pool, metrics: Metrics, logger: Logger): Standby | undefined {
  if (config.DATABASE_REPLICA_URL === undefined) return undefined;
  return createStandby({
    url: config.DATABASE_REPLICA_URL,
    max: config.DATABASE_POOL,
    answerWithinMillis: config.DATABASE_REPLICA_TIMEOUT_MILLIS,
    primary,
    onIdleError: (error) => {
      logger.warn({ err: error }, 'a connection to the standby was lost');
    },
    onRead: metrics.tally(
      'muster_standby_reads_total',
      'Reads that a standby could answer, by result: standby, or the reason why the primary answered',
      'outcome',
      readOutcomes,
    ),
  });
}

/** Follows the event streams until the app closes. */
function followersOf(pool: Pool, app: FastifyInstance, logger: Logger): Followers {
  const followers = createFollowers(pool, (error) => {
    logger.warn({ err: error }, 'the positions of the event streams could not be read');
  });
  // Answers calls that wait for events with the events found so far, so that they do not delay the shutdown.
  app.addHook('preClose', async () => {
    followers.close();
  });
  return followers;
}

const environmentOf = (
  pool: Pool,
  handlers: AllHandlers,
  standby: Standby | undefined,
): HandlerEnvironment => ({
  handlers: performable(handlers),
  reactions,
  standby,
  claimSlug: (orgId, slug) => claimSlug(pool, orgId, slug),
  askOtherServers: (who, query) => askOtherServers(pool, who, query),
});

interface TokenlessSetUp {
  readonly pool: Pool;
  readonly forges: ForgesSetUp;
  readonly cookie: SessionCookie | undefined;
  readonly logger: Logger;
}

/** Adds the routes without a token: invitations, deliveries from forges, and the creation of GitHub Apps. */
function addTokenlessRoutes(
  config: ApiConfig,
  { app, metrics }: Service,
  { pool, forges, cookie, logger }: TokenlessSetUp,
): void {
  addInvitationRoutes(app, {
    ...{ pool, reactions, metrics, logger, cookie },
    addresses: addressesOf(config),
  });
  addForgeHooks(app, {
    ...{ pool, seals: forges.seals, metrics, logger },
    deliveries: config.LIMIT_DELIVERIES,
    refused: config.LIMIT_UNKNOWN_TOKENS,
  });
  addForgeApps(app, { pool, setUp: forges, refused: config.LIMIT_UNKNOWN_TOKENS, metrics, logger });
}

/** Adds the routes that forward to the configured services. */
function addForwards(
  config: ApiConfig,
  { app, leave }: Service,
  authenticate: Authenticate,
): readonly { readonly close: () => Promise<void> }[] {
  const { MCP_GATEWAY_URL: gatewayUrl, SIGN_IN_URL: signInUrl, CONSOLE_URL: consoleUrl } = config;
  const issuer = signInUrl === undefined ? null : addressesOf(config).baseUrl;
  const guard = createHostGuard(config.HOST, addressesOf(config).baseUrl);
  return [
    ...(gatewayUrl === undefined
      ? []
      : [addMcpForward(app, { gatewayUrl, authenticate, leave, issuer, guard })]),
    ...(signInUrl === undefined ? [] : [addSignInForward(app, { signInUrl, leave })]),
    ...(consoleUrl === undefined ? [] : [addConsoleForward(app, { consoleUrl, leave })]),
  ];
}

export function createApp(config: ApiConfig, logger: Logger): CoordinationApi {
  const nodes = openDatabase(config, logger);
  const { pool } = nodes;
  const checking = openReadiness(config);
  const redis = config.REDIS_URL === undefined ? undefined : redisCheck(config.REDIS_URL);
  const authenticator = createAuthenticator(pool);
  const cookie = config.SIGN_IN_URL === undefined ? undefined : sessionCookieOf(addressesOf(config).baseUrl);
  const { authenticate, authenticateToken } = createAuthenticate(authenticator, {
    unknownTokens: config.LIMIT_UNKNOWN_TOKENS,
    cookie,
    gatewayKeys: config.MCP_GATEWAY_KEY,
  });
  const connections = nodes.levels.options.max;
  const placesAtOnce = connections * inFlightPerConnection;
  const service = createService({
    name: 'coordination-api',
    logger,
    checks: [
      ...nodeChecks(checking, config.DATABASE_URL, config.DATABASE_NODES),
      ...(redis ? [redis.check] : []),
    ],
    mostInFlight: placesAtOnce,
    trustProxy: config.TRUST_PROXY ?? false,
    toApiError,
    errorPage: missingPageOf(addressesOf(config)),
  });
  const { app, metrics, aside, leave } = service;
  const limits = limitsOf(config, logger);
  metrics.pool(nodes.levels);
  const standby = standbyOf(config, pool, metrics, logger);
  metrics.total(
    'muster_validation_holes_total',
    'Values that passed validation but were rejected by Postgres; each is an error in the contract',
    () => validationHoles.count,
  );

  const webhooks = webhooksSetUpOf(config);
  const forges = { seals: webhooks.seals, baseUrl: addressesOf(config).baseUrl };
  const handlers = handlersOf({ seatPrices: config.SEAT_PRICING, webhooks, forges });
  const followers = followersOf(pool, app, logger);
  const calls: OperationRouteOptions & EventStreamOptions = {
    ...{ pool, authenticate, limits, aside, leave, placesAtOnce, connections, metrics, logger },
    handlers: byOperation(handlers),
    environment: environmentOf(pool, handlers, standby),
    wait: (waiter, { position, seconds }, left) => followers.wait(waiter, position, seconds, left),
    followInbox: (waiter, changed) => followers.followInbox(waiter, changed),
  };
  // Do not decompress requests: a small one could expand to a huge one.
  void app.register(compress, {
    globalCompression: false,
    globalDecompression: false,
    encodings: ['br', 'gzip'],
  });
  app.after(() => addOperationRoutes(app, calls));
  addEventStream(app, calls);
  allowOrigins(app, config.CORS_ORIGINS);
  addTokenlessRoutes(config, service, { pool, forges, cookie, logger });
  const forwards = addForwards(config, service, authenticateToken);
  void app.register(async (scope) => addDiscoveryRoutes(scope, addressesOf(config)));

  return {
    service,
    pool,
    close: async () => {
      await authenticator.close();
      for (const forward of forwards) await forward.close();
      await limits.close();
      redis?.close();
      await Promise.all([nodes.close(), checking.close(), standby?.close()]);
    },
  };
}
