/** What license-service takes from its environment. Only DATABASE_URL has to be there. */
import {
  commonEnvironment,
  ConfigError,
  parsedVariable,
  parseEnvironment,
  rateVariable,
  RedisUrl,
  requireSafeAddress,
  TrustProxy,
} from '@muster/http';
import { parseNetworks } from '@muster/outbound';
import { z } from 'zod';
import { mostDays, usualDays } from './air-gap/days.ts';

const secret = z.string().min(16, 'is shorter than 16 characters');

export const environment = {
  ...commonEnvironment,
  PORT: commonEnvironment.PORT.default(4102),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4112),
  /** A login that may become muster_licenses; where it may also make schemas, the service keeps its own current. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Connections to Postgres at most, per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /**
   * For counting attempts over all processes; without it each counts for itself. Several hosts with commas between are a
   * cluster, `redis+sentinel://host:26379,host:26379/name` a group that sentinels watch.
   */
  REDIS_URL: RedisUrl.optional(),
  /** Whose X-Forwarded-For is believed: a list of addresses or networks, or a number of hops. */
  TRUST_PROXY: TrustProxy.optional(),
  /** Hashes the ids of machines; without it a secret that lies in the database does. */
  LICENSE_PEPPER: secret.optional(),
  /**
   * Another one that is accepted: the one before it, while machines come by. While several processes go over to a new pepper, one
   * after the other, the new one stands here first, in all of them: a process without it takes a machine for another.
   */
  LICENSE_PEPPER_BEFORE: secret.optional(),
  /** Seals the private signing keys; without it a secret that lies in the database does. */
  LICENSE_SEAL: secret.optional(),
  /** Where people reach this service, for the links of their licenses; as the caller names it unless set. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * Where people who work in support sign in: an issuer of OpenID Connect, as it names itself. Who may what is said by
   * `license operator grant`. Without it they sign in by a token of `license token new`. It needs BASE_URL, and sends people back to
   * BASE_URL/support/callback.
   */
  OPERATORS_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  /** The client id that the issuer gave this service. */
  OPERATORS_CLIENT_ID: z.string().max(500).optional(),
  /** None for a public client. */
  OPERATORS_CLIENT_SECRET: z.string().max(1_000).optional(),
  /** What the button to sign in says; the issuer's host unless set. */
  OPERATORS_ISSUER_NAME: z.string().max(60).optional(),
  /**
   * Networks besides the public ones that webhooks may be sent to, and in which the issuer may be: `10.0.0.0/8,127.0.0.0/8:*`.
   */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /** How long a certificate lives at most. */
  CERTIFICATE_DAYS: z.coerce.number().min(0.01).max(90).default(7),
  /** How long a machine that never comes online may run by an answer of the pages, or of the operators’ API where it names no time. */
  AIR_GAP_DAYS: z.coerce.number().min(0.01).max(mostDays).default(usualDays),
  /** Activations, releases and trials per address: `30/2` is thirty at once, and one more every two seconds. */
  LIMIT_IP: rateVariable('30/2'),
  /** Checks per address. */
  LIMIT_CHECK: rateVariable('120/0.5'),
  /** Calls of the operators' API per token, and per address. */
  LIMIT_OPERATORS: rateVariable('300/0.1'),
  /** Failures per address; a trial that begins costs it as much. */
  LIMIT_IP_FAIL: rateVariable('20/60'),
  /** Failures per key. */
  LIMIT_KEY_FAIL: rateVariable('20/360'),
  /** After this Redis counts as away, and attempts are counted in memory. */
  LIMIT_TIMEOUT_MILLIS: z.coerce.number().int().min(1).max(5_000).default(50),
};

export type Config = ReturnType<typeof readConfig>;

/** Throws where people are to sign in at an issuer and could not. */
export function readConfig(from: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, from);
  const { OPERATORS_ISSUER: issuer, OPERATORS_CLIENT_ID: clientId } = config;
  if (issuer === undefined) return { ...config, operatorsIssuer: undefined };
  if (clientId === undefined)
    throw new ConfigError(
      'the configuration does not fit:\n  OPERATORS_CLIENT_ID is not set, and OPERATORS_ISSUER is',
    );
  requireSafeAddress(config.BASE_URL);
  const operatorsIssuer = {
    ...{ issuer, clientId, clientSecret: config.OPERATORS_CLIENT_SECRET ?? null },
    name: config.OPERATORS_ISSUER_NAME ?? new URL(issuer).host,
  };
  return { ...config, operatorsIssuer };
}
