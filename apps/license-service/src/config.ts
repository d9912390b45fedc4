/** The environment variables of license-service. Only DATABASE_URL is required. */
import {
  commonEnvironment,
  ConfigError,
  parsedVariable,
  parseEnvironment,
  rateVariable,
  RedisUrl,
  requireSecureBaseUrl,
  TrustProxy,
} from '@muster/http';
import { parseNetworks } from '@muster/outbound';
import { z } from 'zod';
import { maxOfflineDays, defaultOfflineDays } from './air-gap/days.ts';

const secretVariable = z.string().min(16, 'is shorter than 16 characters');

export const environment = {
  ...commonEnvironment,
  PORT: commonEnvironment.PORT.default(4102),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4112),
  /** A login that may become muster_licenses. If it may also create schemas, the service migrates its own schema. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** The most connections to Postgres per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /**
   * Redis for counting attempts over all processes. Without it each process counts separately. Several hosts, separated by
   * commas, are a cluster; `redis+sentinel://host:26379,host:26379/name` is a group watched by sentinels.
   */
  REDIS_URL: RedisUrl.optional(),
  /** Proxies whose X-Forwarded-For is trusted: a list of addresses or networks, or a number of hops. */
  TRUST_PROXY: TrustProxy.optional(),
  /** The secret for hashing machine IDs. Without it the service uses a secret in the database. */
  LICENSE_PEPPER: secretVariable.optional(),
  /**
   * The previous pepper, which stays accepted until machines have called again. To change the pepper of several processes
   * one by one, set the new one here first in all of them. A process without it would take a known machine for a new one.
   */
  LICENSE_PEPPER_BEFORE: secretVariable.optional(),
  /** The secret that encrypts the private signing keys. Without it the service uses a secret in the database. */
  LICENSE_SEAL: secretVariable.optional(),
  /** The public URL of this service, for links to licenses. If not set, the host of each request is used. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * The OpenID Connect issuer with which support staff sign in. `license operator grant` grants their rights. Without an
   * issuer they sign in with a token of `license token new`. An issuer needs BASE_URL, because its redirect URL
   * is BASE_URL/support/callback.
   */
  OPERATORS_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  /** The client ID of this service at the issuer. */
  OPERATORS_CLIENT_ID: z.string().max(500).optional(),
  /** The client secret; not set for a public client. */
  OPERATORS_CLIENT_SECRET: z.string().max(1_000).optional(),
  /** The issuer's name on the sign-in button; its host if not set. */
  OPERATORS_ISSUER_NAME: z.string().max(60).optional(),
  /**
   * Private networks that webhooks may be sent to and that the issuer may be in, such as `10.0.0.0/8,127.0.0.0/8:*`.
   */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /** The maximum validity of a certificate, in days. */
  CERTIFICATE_DAYS: z.coerce.number().min(0.01).max(90).default(7),
  /** The validity, in days, of offline answers from the pages, and the default for those of the operators’ API. */
  AIR_GAP_DAYS: z.coerce.number().min(0.01).max(maxOfflineDays).default(defaultOfflineDays),
  /** The limit of activations, releases and trials per address: `30/2` is a burst of thirty, and one more every two seconds. */
  LIMIT_IP: rateVariable('30/2'),
  /** The limit of checks per address. */
  LIMIT_CHECK: rateVariable('120/0.5'),
  /** The limit of usage reports and of calls for the latest release per address. */
  LIMIT_USAGE: rateVariable('120/0.5'),
  /** The limit of calls of the operators' API per token and per address. */
  LIMIT_OPERATORS: rateVariable('300/0.1'),
  /** The limit of failures per address. Starting a trial counts as a failure. */
  LIMIT_IP_FAIL: rateVariable('20/60'),
  /** The limit of failures per key. */
  LIMIT_KEY_FAIL: rateVariable('20/360'),
  /** The time after which Redis counts as unavailable, and attempts are counted in memory. */
  LIMIT_TIMEOUT_MILLIS: z.coerce.number().int().min(1).max(5_000).default(50),
};

export type LicenseServiceConfig = ReturnType<typeof readConfig>;

/** Reads the configuration. Throws if the settings of the operators' issuer are incomplete. */
export function readConfig(environmentVariables: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, environmentVariables);
  const { OPERATORS_ISSUER: issuer, OPERATORS_CLIENT_ID: clientId } = config;
  if (issuer === undefined) return { ...config, operatorsIssuer: undefined };
  if (clientId === undefined)
    throw new ConfigError(
      'The configuration is invalid:\n  OPERATORS_CLIENT_ID is not set, and OPERATORS_ISSUER is',
    );
  requireSecureBaseUrl(config.BASE_URL);
  const operatorsIssuer = {
    ...{ issuer, clientId, clientSecret: config.OPERATORS_CLIENT_SECRET ?? null },
    name: config.OPERATORS_ISSUER_NAME ?? new URL(issuer).host,
  };
  return { ...config, operatorsIssuer };
}
