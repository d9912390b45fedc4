/** What sign-in takes from its environment. */
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
import { mailToOf } from '@muster/outbound/mail';
import { parseNodes } from '@muster/placement';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  /** The port it listens on. */
  PORT: commonEnvironment.PORT.default(4105),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4115),
  /** A login that may become muster_sign_in. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /**
   * Further servers that organizations are at, as `eu=postgres://…,us=postgres://…`, with the same login; DATABASE_URL names the
   * one that knows where each of them is. The API, the worker, sign-in and the operators' commands need the same.
   */
  DATABASE_NODES: parsedVariable(parseNodes),
  /** Connections to Postgres at most, per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(5),
  /** Where people reach Muster: https, or this machine alone. The API needs the same. */
  BASE_URL: z.url({ protocol: /^https?$/ }),
  /** Where coordination-api is, which does what a person consents to: as their session, by its operations. BASE_URL unless told. */
  COORDINATION_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * `on`: clients of MCP may register themselves, under whatever name they say. Those that have an address of their own, a client id
   * metadata document, need it not.
   */
  OAUTH_DYNAMIC_REGISTRATION: z.enum(['on', 'off']).default('off'),
  /** Where people go who have signed in, unless they were on their way to somewhere: a path of BASE_URL. */
  HOME_PATH: z
    .string()
    .regex(/^\/(?![/\\])/)
    .default('/sign-in'),
  /**
   * Who may sign in besides members: `open`, any person who proves an address; `invited`, who is invited; `closed`, none, so
   * invitations are accepted without an account.
   */
  SIGN_UP: z.enum(['open', 'invited', 'closed']).default('invited'),
  /** `smtp://user:password@host:587`, or smtps; without it mails go to the folder. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Where mails are written as .eml while there is no SMTP_URL. */
  MAIL_FOLDER: z.string().optional(),
  /** The sender of mails. */
  MAIL_FROM: z.string().min(3).default('Muster <muster@localhost>'),
  /** Whose X-Forwarded-For is believed: a list of addresses or networks, that of the API among them, or a
   * number of hops. */
  TRUST_PROXY: TrustProxy.optional(),
  /** Links that are asked for, and secrets and codes that are tried, per address (of IPv6 per network); of connections that
   * are asked for ten times as many. */
  LIMIT_SIGN_IN: rateVariable('30/10'),
  /** Networks besides the public ones in which identity providers may be, as the API has it. */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /** What the secrets of identity providers are sealed with, as the API has it. */
  SECRETS_KEY: parsedVariable(parseKeys),
  /** The address of a demo's member, as whom one click signs in; on this machine alone. */
  DEMO_ACCOUNT: z.email().optional(),
};

export type Config = ReturnType<typeof readConfig>;

/** Throws where mails go nowhere, where no session is safe, and where a demo could be reached from another machine. */
export function readConfig(from: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, from);
  const mailTo = mailToOf(config);
  if (mailTo === undefined)
    throw new ConfigError('the configuration does not fit:\n  neither SMTP_URL nor MAIL_FOLDER is set');
  const cookie = sessionCookieOf(config.BASE_URL);
  if (config.DEMO_ACCOUNT !== undefined && (cookie.isSecure || config.HOST !== '127.0.0.1'))
    throw new ConfigError(
      'the configuration does not fit:\n  DEMO_ACCOUNT is for a BASE_URL and a HOST of this machine alone',
    );
  return { ...config, mailTo, cookie };
}
