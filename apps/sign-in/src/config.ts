/** The environment variables of sign-in. */
import {
  commonEnvironment,
  ConfigError,
  parsedVariable,
  parseEnvironment,
  parseKeys,
  rateVariable,
  sessionCookieOf,
  TrustProxy,
} from '@muster/http';
import { parseNetworks } from '@muster/outbound';
import { mailDestinationOf } from '@muster/outbound/mail';
import { parseNodes } from '@muster/placement';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  /** The port that the service listens on. */
  PORT: commonEnvironment.PORT.default(4105),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4115),
  /** URL of the primary database. Its login must be a member of the role muster_sign_in. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /**
   * Further database servers that hold organizations, as `eu=postgres://…,us=postgres://…`, with the same
   * login. The server in DATABASE_URL knows where each organization is. The API, the worker, sign-in and the
   * operators' commands need the same value.
   */
  DATABASE_NODES: parsedVariable(parseNodes),
  /** Maximum number of connections to Postgres, per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(5),
  /** Public URL of Muster: https, or the loopback interface. The API needs the same value. */
  BASE_URL: z.url({ protocol: /^https?$/ }),
  /**
   * URL of coordination-api. Sign-in calls its operations with a person's session to carry out what they
   * consented to. BASE_URL by default.
   */
  COORDINATION_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * `on` lets MCP clients register themselves, under any name. Clients with a client id metadata document
   * need no registration.
   */
  OAUTH_DYNAMIC_REGISTRATION: z.enum(['on', 'off']).default('off'),
  /**
   * The path of BASE_URL to which people are redirected after signing in, unless they came from another page.
   */
  HOME_PATH: z
    .string()
    .regex(/^\/(?![/\\])/)
    .default('/sign-in'),
  /**
   * People who may sign in besides members: `open` allows anyone with a confirmed address; `invited` allows
   * invited people; `closed` allows no one else, so invitations are accepted without an account.
   */
  SIGN_UP: z.enum(['open', 'invited', 'closed']).default('invited'),
  /**
   * Mail server, as `smtp://user:password@host:587` or smtps; without it, e-mails are written to MAIL_FOLDER.
   */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Folder for e-mails as .eml files, if SMTP_URL is not set. */
  MAIL_FOLDER: z.string().optional(),
  /** Sender of e-mails. */
  MAIL_FROM: z.string().min(3).default('Muster <muster@localhost>'),
  /**
   * Proxies whose X-Forwarded-For is trusted: a list of addresses or networks that includes the API's, or a
   * number of hops.
   */
  TRUST_PROXY: TrustProxy.optional(),
  /**
   * Rate limit per IPv4 address or IPv6 network for requested links and for attempts with secrets and codes.
   * Ten times as many requests for connections are allowed.
   */
  LIMIT_SIGN_IN: rateVariable('30/10'),
  /** Non-public networks in which identity providers may be called; the same value as for the API. */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /** Key that encrypts the secrets of identity providers; the same value as for the API. */
  SECRETS_KEY: parsedVariable(parseKeys),
  /**
   * E-mail address of a demo member, as whom one click signs in. It is only allowed on the loopback
   * interface.
   */
  DEMO_ACCOUNT: z.email().optional(),
};

export type SignInConfig = ReturnType<typeof readConfig>;

/**
 * Reads the configuration. Throws if e-mails have no destination, if sessions would be unsafe, or if other
 * machines could reach a demo.
 */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, variables);
  const mailTo = mailDestinationOf(config);
  if (mailTo === undefined)
    throw new ConfigError('The configuration is invalid:\n  neither SMTP_URL nor MAIL_FOLDER is set');
  const cookie = sessionCookieOf(config.BASE_URL);
  if (config.DEMO_ACCOUNT !== undefined && (cookie.isSecure || config.HOST !== '127.0.0.1'))
    throw new ConfigError(
      'The configuration is invalid:\n  DEMO_ACCOUNT is allowed only if BASE_URL is local to this machine and HOST is 127.0.0.1',
    );
  return { ...config, mailTo, cookie };
}
