/** Assembles sign-in from its configuration, without listening on a port yet. */
import { type Pool } from '@muster/driver';
import { createService, type Service, addFormParser } from '@muster/http';
import { createSecretCipher } from '@muster/outbound';
import { createMailer } from '@muster/outbound/mail';
import { createSender, type SenderOptions } from '@muster/outbound/sender';
import { inSignInTransaction, nodeHealthChecks, openNodes } from '@muster/placement';
import { toApiError } from '@muster/runtime';
import { type Logger } from 'pino';
import { type SignInConfig } from './config.ts';
import { purgeExpired } from './data/purge.ts';
import { addIssuerRoutes } from './http/issuers.ts';
import { addLinkRoutes } from './http/links.ts';
import { addOrganizationRoutes } from './http/organizations.ts';
import { addPasskeyRoutes } from './http/passkeys.ts';
import { startAccountExchange } from './exchange.ts';
import { createThrottle, signInCookies } from './http/requests.ts';
import { addSessionRoutes } from './http/sessions.ts';
import { createIssuers } from './issuers.ts';
import { createDocumentFetcher } from './oauth/clients.ts';
import { createPersonApi } from './oauth/own-calls.ts';
import { createProvider } from './oauth/provider.ts';
import { addOAuthRoutes } from './oauth/routes.ts';
import { errorPage } from './pages/error.ts';
import { relyingPartyIdOf } from './relying-party.ts';

export interface SignInService {
  readonly service: Service;
  readonly pool: Pool;
  /** Closes the connections. Call it after the service has stopped. */
  readonly close: () => Promise<void>;
}

const maxInFlightRequests = 200;
const purgeIntervalMillis = 3_600_000;

/** Limits for fetching client metadata documents: a short timeout, and only public addresses. */
const restrictedSenderOptions: SenderOptions = { networks: [], timeoutSeconds: 3 };

export async function createSignIn(
  config: SignInConfig,
  logger: Logger,
  senderOptions: SenderOptions = restrictedSenderOptions,
): Promise<SignInService> {
  const { DATABASE_URL: url, DATABASE_NODES: addresses } = config;
  const nodes = openNodes(
    {
      ...{ url, max: config.DATABASE_POOL, role: 'muster_sign_in', name: 'sign-in' },
      onIdleError: (error) => {
        logger.warn({ err: error }, 'a connection to Postgres was lost');
      },
    },
    addresses,
  );
  const { pool } = nodes;
  const service = createService({
    ...{ name: 'sign-in', logger, maxInFlight: maxInFlightRequests, toApiError },
    checks: nodeHealthChecks(nodes, url, addresses),
    trustProxy: config.TRUST_PROXY ?? false,
    renderErrorPage: errorPage,
  });
  service.metrics.addPoolGauges(nodes.connectionCounts);
  const mailer = createMailer(config.mailTo, config.MAIL_FROM, logger);
  const around = {
    ...{ pool, logger, mailer },
    config: { ...config, baseUrl: config.BASE_URL.replace(/\/+$/, '') },
    cookies: signInCookies(config.cookie),
    throttle: createThrottle(config.LIMIT_SIGN_IN),
    ways: { demo: config.DEMO_ACCOUNT ?? null, passkeys: relyingPartyIdOf(config.BASE_URL) !== undefined },
  };
  const sender = createSender(senderOptions);
  // Identity providers may also be in the operator's own networks.
  const issuerSender = createSender({ ...senderOptions, networks: config.WEBHOOK_NETWORKS });
  const issuers = createIssuers({ sender: issuerSender, seals: createSecretCipher(config.SECRETS_KEY) });
  const calls = createPersonApi({
    ...{ url: config.COORDINATION_API_URL ?? config.BASE_URL, origin: config.cookie.origin },
  });
  const provider = await createProvider({
    ...{ pool, baseUrl: around.config.baseUrl, isSecure: config.cookie.isSecure },
    fetchDocument: createDocumentFetcher(sender),
    allowsRegistration: config.OAUTH_DYNAMIC_REGISTRATION === 'on',
  });
  provider.on('server_error', (_ctx, error) => {
    logger.error({ err: error }, 'a client could not be answered');
  });
  void service.app.register(async (app) => {
    addFormParser(app);
    addSessionRoutes(app, around);
    addLinkRoutes(app, around);
    addOrganizationRoutes(app, around);
    addPasskeyRoutes(app, around);
    addIssuerRoutes(app, { ...around, issuers });
  });
  addOAuthRoutes(service.app, { ...around, provider, calls, releaseRequestSlot: service.releaseSlot });
  const purging = setInterval(() => {
    inSignInTransaction(pool, purgeExpired).catch((error: unknown) => {
      logger.warn({ err: error }, 'what is over could not be removed');
    });
  }, purgeIntervalMillis).unref();
  const exchange = startAccountExchange(pool, logger);
  return {
    service,
    pool,
    close: async () => {
      clearInterval(purging);
      await exchange.stop();
      mailer.close();
      sender.close();
      issuerSender.close();
      await calls.close();
      await nodes.close();
    },
  };
}
