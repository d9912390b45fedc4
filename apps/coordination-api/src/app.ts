/** Assembles coordination-api from its configuration, without listening on a port yet. */
import { createFileScanner, openFileStorage, type OpenStorage } from '@muster/attachments';
import { type Pool } from '@muster/driver';
import { type ForgesConfig } from '@muster/forges';
import { toWebhooksConfig } from '@muster/notifications';
import {
  type AllHandlers,
  createHandlers,
  type HandlersConfig,
  performableHandlers,
  reactions,
} from '@muster/operations';
import { createSlackTokens } from '@muster/outbound/slack';
import { queryOtherServers, claimSlug, nodeHealthChecks, openNodes, type OpenNodes } from '@muster/placement';
import {
  handlersByOperation,
  createAuthenticator,
  type HandlerEnvironment,
  toApiError,
  valuesMissedByValidation,
} from '@muster/runtime';
import {
  createService,
  type Metrics,
  createRedisCheck,
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
import { createErrorPage } from './http/discovery/error-page.ts';
import { addDiscoveryRoutes } from './http/discovery/routes.ts';
import { type Authenticate, createAuthenticate } from './http/authenticate.ts';
import { addConsoleForward } from './http/console.ts';
import { createHostGuard } from './http/hostGuard.ts';
import { type CallLimits, createCallLimits } from './http/limits.ts';
import { createCallQueues } from './http/lines.ts';
import { allowCorsOrigins } from './http/origins.ts';
import { addExportKeysRoute } from './http/exportKeys.ts';
import { addFileRoutes } from './http/files.ts';
import { addForgeAppRoutes } from './http/forgeApps.ts';
import { addForgeHookRoutes } from './http/forgeHooks.ts';
import { addInvitationRoutes } from './http/invitations.ts';
import { addEventStreamRoute, type EventStreamOptions } from './http/eventStream.ts';
import { addMcpForward } from './http/mcp.ts';
import { addOperationRoutes, type OperationRouteOptions } from './http/operationRoutes.ts';
import { addScimRoutes } from './http/scim/routes.ts';
import { addSignInForward } from './http/signIn.ts';
import { addSlackRoute } from './http/slack/route.ts';

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

/** The time limit for the upload of a file, in milliseconds. It allows 50 MiB over a line of 1.5 Mbit/s. */
const uploadTimeoutMillis = 300_000;

const openDatabase = (config: ApiConfig, logger: Logger): OpenNodes =>
  openNodes(
    {
      url: config.DATABASE_URL,
      max: config.DATABASE_POOL,
      role: 'muster_app',
      name: 'coordination-api',
      onIdleError: (error) => {
        logger.warn({ err: error }, 'a connection to Postgres was lost');
      },
    },
    config.DATABASE_NODES,
  );

/**
 * Opens a separate connection for readiness checks. A full pool must not make the API count as unavailable.
 */
const openReadinessNodes = (config: ApiConfig): OpenNodes =>
  openNodes(
    { url: config.DATABASE_URL, max: 1, role: 'muster_app', name: 'coordination-api readiness' },
    config.DATABASE_NODES,
  );

const openCallLimits = (config: ApiConfig, logger: Logger): CallLimits =>
  createCallLimits({
    limitPerToken: config.LIMIT_TOKEN,
    limitPerOrganization: config.LIMIT_ORGANIZATION,
    redisUrl: config.REDIS_URL,
    timeoutMillis: config.LIMIT_TIMEOUT_MILLIS,
    logger,
  });

function openStandby(
  config: ApiConfig,
  primary: Pool,
  metrics: Metrics,
  logger: Logger,
): Standby | undefined {
  if (config.DATABASE_REPLICA_URL === undefined) return undefined;
  return createStandby({
    url: config.DATABASE_REPLICA_URL,
    max: config.DATABASE_POOL,
    queryTimeoutMillis: config.DATABASE_REPLICA_TIMEOUT_MILLIS,
    primary,
    onIdleError: (error) => {
      logger.warn({ err: error }, 'a connection to the standby was lost');
    },
    onRead: metrics.addLabeledCounter(
      'muster_standby_reads_total',
      'Reads that a standby could answer, by result: standby, or the reason why the primary answered',
      'outcome',
      readOutcomes,
    ),
  });
}

/** Follows the event streams until the app closes. */
function openFollowers(pool: Pool, app: FastifyInstance, logger: Logger): Followers {
  const followers = createFollowers(pool, (error) => {
    logger.warn({ err: error }, 'the positions of the event streams could not be read');
  });
  // Answers calls that wait for events with the events found so far, so that they do not delay the shutdown.
  app.addHook('preClose', async () => {
    followers.close();
  });
  return followers;
}

const createEnvironment = (
  pool: Pool,
  handlers: AllHandlers,
  standby: Standby | undefined,
): HandlerEnvironment => ({
  handlers: performableHandlers(handlers),
  reactions,
  standby,
  claimSlug: (orgId, slug) => claimSlug(pool, orgId, slug),
  queryOtherServers: (who, query) => queryOtherServers(pool, who, query),
});

const createConfiguredHandlers = (
  config: ApiConfig,
  setUp: Pick<HandlersConfig, 'webhooks' | 'forges'>,
): AllHandlers =>
  createHandlers({
    ...setUp,
    seatPrices: config.SEAT_PRICING,
    slackTokens: createSlackTokens(config.SECRETS_KEY),
    attachments: {
      baseUrl: addressesOf(config).baseUrl,
      maxBytesPerOrganization: config.FILES_PER_ORGANIZATION,
    },
  });

function addValidationCounter(metrics: Metrics): void {
  metrics.addCounter(
    'muster_validation_holes_total',
    'Values that passed validation but were rejected by Postgres; each is an error in the contract',
    () => valuesMissedByValidation.count,
  );
}

interface TokenlessRouteOptions {
  readonly pool: Pool;
  readonly forges: ForgesConfig;
  readonly environment: HandlerEnvironment;
  readonly storage: OpenStorage['storage'];
  readonly limits: CallLimits;
  readonly cookie: SessionCookie | undefined;
  readonly logger: Logger;
}

/**
 * Adds the routes without a token: invitations, deliveries from forges, the creation of GitHub Apps, clicks in Slack, and
 * files.
 */
function addTokenlessRoutes(
  config: ApiConfig,
  { app, metrics, releaseSlot }: Service,
  { pool, forges, environment, limits, storage, cookie, logger }: TokenlessRouteOptions,
): void {
  addInvitationRoutes(app, {
    ...{ pool, reactions, metrics, logger, cookie },
    addresses: addressesOf(config),
  });
  addForgeHookRoutes(app, {
    ...{ pool, seals: forges.seals, metrics, logger },
    acceptedDeliveryRate: config.LIMIT_DELIVERIES,
    refusedDeliveryRate: config.LIMIT_UNKNOWN_TOKENS,
  });
  addForgeAppRoutes(app, {
    pool,
    forgesConfig: forges,
    refusedRequestRate: config.LIMIT_UNKNOWN_TOKENS,
    metrics,
    logger,
  });
  if (config.SLACK_SIGNING_SECRET !== undefined)
    addSlackRoute(app, {
      ...{ pool, environment, secretCipher: forges.seals, metrics, logger },
      tokens: createSlackTokens(config.SECRETS_KEY),
      rateLimiter: limits.rateLimiter,
      signingSecret: config.SLACK_SIGNING_SECRET,
      refusedRequestRate: config.LIMIT_UNKNOWN_TOKENS,
    });
  addExportKeysRoute(app, pool, config.SECRETS_KEY);
  addFileRoutes(app, {
    ...{ pool, storage, environment, metrics, logger, releaseSlot },
    scanner: createFileScanner(config),
    refusedRequestRate: config.LIMIT_UNKNOWN_TOKENS,
  });
}

/** Adds the routes that forward to the configured services. */
function addForwards(
  config: ApiConfig,
  { app, releaseSlot }: Service,
  authenticate: Authenticate,
): readonly { readonly close: () => Promise<void> }[] {
  const { MCP_GATEWAY_URL: gatewayUrl, SIGN_IN_URL: signInUrl, CONSOLE_URL: consoleUrl } = config;
  const issuer = signInUrl === undefined ? null : addressesOf(config).baseUrl;
  const guard = createHostGuard(config.HOST, addressesOf(config).baseUrl);
  return [
    ...(gatewayUrl === undefined
      ? []
      : [addMcpForward(app, { gatewayUrl, authenticate, releaseSlot, issuer, checkHost: guard })]),
    ...(signInUrl === undefined ? [] : [addSignInForward(app, { signInUrl, releaseSlot })]),
    ...(consoleUrl === undefined ? [] : [addConsoleForward(app, { consoleUrl, releaseSlot })]),
  ];
}

export function createApp(config: ApiConfig, logger: Logger): CoordinationApi {
  const nodes = openDatabase(config, logger);
  const { pool } = nodes;
  const checking = openReadinessNodes(config);
  const files = openFileStorage(config, checking.pool);
  const redis = config.REDIS_URL === undefined ? undefined : createRedisCheck(config.REDIS_URL);
  const authenticator = createAuthenticator(pool);
  const cookie = config.SIGN_IN_URL === undefined ? undefined : sessionCookieOf(addressesOf(config).baseUrl);
  const { authenticate, authenticateToken } = createAuthenticate(authenticator, {
    unknownTokenRate: config.LIMIT_UNKNOWN_TOKENS,
    cookie,
    gatewayKeys: config.MCP_GATEWAY_KEY,
  });
  const connections = nodes.connectionCounts.options.max;
  const placesAtOnce = connections * inFlightPerConnection;
  const service = createService({
    name: 'coordination-api',
    logger,
    checks: [
      ...nodeHealthChecks(checking, config.DATABASE_URL, config.DATABASE_NODES),
      ...(redis ? [redis.check] : []),
      ...files.checks,
    ],
    maxInFlight: placesAtOnce,
    trustProxy: config.TRUST_PROXY ?? false,
    toApiError,
    renderErrorPage: createErrorPage(addressesOf(config)),
    requestTimeoutMillis: uploadTimeoutMillis,
  });
  const { app, metrics, waitWithoutSlot, releaseSlot } = service;
  const limits = openCallLimits(config, logger);
  metrics.addPoolGauges(nodes.connectionCounts);
  const standby = openStandby(config, pool, metrics, logger);
  addValidationCounter(metrics);

  const webhooks = toWebhooksConfig(config);
  const forges = { seals: webhooks.seals, baseUrl: addressesOf(config).baseUrl };
  const handlers = createConfiguredHandlers(config, { webhooks, forges });
  const environment = createEnvironment(pool, handlers, standby);
  const followers = openFollowers(pool, app, logger);
  const calls: OperationRouteOptions & EventStreamOptions = {
    pool,
    authenticate,
    limits,
    aside: waitWithoutSlot,
    releaseSlot,
    enterQueuesOf: createCallQueues({ aside: waitWithoutSlot, placesAtOnce, connections }),
    metrics,
    logger,
    handlers: handlersByOperation(handlers),
    environment,
    wait: (waiter, { position, timeoutSeconds }, left) =>
      followers.wait(waiter, position, timeoutSeconds, left),
    followInbox: (waiter, changed) => followers.followInbox(waiter, changed),
  };
  // Do not decompress requests: a small one could expand to a huge one.
  void app.register(compress, {
    globalCompression: false,
    globalDecompression: false,
    encodings: ['br', 'gzip'],
  });
  app.after(() => addOperationRoutes(app, calls));
  addEventStreamRoute(app, calls);
  const { baseUrl, docsUrl } = addressesOf(config);
  addScimRoutes(app, { ...calls, authenticateToken, baseUrl, docsUrl });
  allowCorsOrigins(app, config.CORS_ORIGINS);
  addTokenlessRoutes(config, service, { pool, forges, cookie, logger, environment, limits, ...files });
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
