/** Assembles sign-in from its configuration, without listening on a port yet. */
import { type Pool } from '@muster/driver';
import { createService, type Service, takeForms } from '@muster/http';
import { createSeals } from '@muster/outbound';
import { createMailer } from '@muster/outbound/mail';
import { createSender, type SenderOptions } from '@muster/outbound/sender';
import { inSignIn, nodeChecks, openNodes } from '@muster/placement';
import { toApiError } from '@muster/runtime';
import { type Logger } from 'pino';
import { type SignInConfig } from './config.ts';
import { purge } from './data/purge.ts';
import { addIssuers } from './http/issuers.ts';
import { addLinks } from './http/links.ts';
import { addOrganizations } from './http/organizations.ts';
import { addPasskeys } from './http/passkeys.ts';
import { startExchange } from './exchange.ts';
import { createThrottle, signInCookies } from './http/requests.ts';
import { addSessions } from './http/sessions.ts';
import { createIssuers } from './issuers.ts';
import { fetchDocument } from './oauth/clients.ts';
import { createOwnCalls } from './oauth/own-calls.ts';
import { createProvider } from './oauth/provider.ts';
import { addOAuth } from './oauth/routes.ts';
import { errorPage } from './pages/error.ts';
import { relyingPartyOf } from './relying-party.ts';

export interface SignIn {
  readonly service: Service;
  readonly pool: Pool;
  /** Closes the connections. Call it after the service has stopped. */
  readonly close: () => Promise<void>;
}

const mostInFlight = 200;
const purgeMillis = 3_600_000;

/** Limits for fetching client metadata documents: a short timeout, and only public addresses. */
const guarded: SenderOptions = { networks: [], seconds: 3 };

export async function createSignIn(
  config: SignInConfig,
  logger: Logger,
  outbound: SenderOptions = guarded,
): Promise<SignIn> {
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
    ...{ name: 'sign-in', logger, mostInFlight, toApiError },
    checks: nodeChecks(nodes, url, addresses),
    trustProxy: config.TRUST_PROXY ?? false,
    errorPage,
  });
  service.metrics.pool(nodes.levels);
  const mailer = createMailer(config.mailTo, config.MAIL_FROM, logger);
  const around = {
    ...{ pool, logger, mailer },
    config: { ...config, baseUrl: config.BASE_URL.replace(/\/+$/, '') },
    cookies: signInCookies(config.cookie),
    throttle: createThrottle(config.LIMIT_SIGN_IN),
    ways: { demo: config.DEMO_ACCOUNT ?? null, passkeys: relyingPartyOf(config.BASE_URL) !== undefined },
  };
  const sender = createSender(outbound);
  // Identity providers may also be in the operator's own networks.
  const issuerSender = createSender({ ...outbound, networks: config.WEBHOOK_NETWORKS });
  const issuers = createIssuers({ sender: issuerSender, seals: createSeals(config.SECRETS_KEY) });
  const calls = createOwnCalls({
    ...{ url: config.COORDINATION_API_URL ?? config.BASE_URL, origin: config.cookie.origin },
  });
  const provider = await createProvider({
    ...{ pool, baseUrl: around.config.baseUrl, isSecure: config.cookie.isSecure },
    fetchDocument: fetchDocument(sender),
    allowsRegistration: config.OAUTH_DYNAMIC_REGISTRATION === 'on',
  });
  provider.on('server_error', (_ctx, error) => {
    logger.error({ err: error }, 'a client could not be answered');
  });
  void service.app.register(async (app) => {
    takeForms(app);
    addSessions(app, around);
    addLinks(app, around);
    addOrganizations(app, around);
    addPasskeys(app, around);
    addIssuers(app, { ...around, issuers });
  });
  addOAuth(service.app, { ...around, provider, calls, leave: service.leave });
  const purging = setInterval(() => {
    inSignIn(pool, purge).catch((error: unknown) => {
      logger.warn({ err: error }, 'what is over could not be removed');
    });
  }, purgeMillis).unref();
  const exchange = startExchange(pool, logger);
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
