/** What license-service takes from its environment. Only DATABASE_URL has to be there. */
import {
  commonEnvironment,
  parsedVariable,
  parseEnvironment,
  rateVariable,
  RedisUrl,
  TrustProxy,
} from '@muster/http';
import { parseNetworks } from '@muster/outbound';
import { z } from 'zod';

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
  /** The one before it, still accepted while machines come by. */
  LICENSE_PEPPER_BEFORE: secret.optional(),
  /** Seals the private signing keys; without it a secret that lies in the database does. */
  LICENSE_SEAL: secret.optional(),
  /** Where people reach this service, for the links of their licenses; as the caller names it unless set. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Networks besides the public ones that webhooks may be sent to: `10.0.0.0/8,127.0.0.0/8:*`. */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /** How long a certificate lives at most. */
  CERTIFICATE_DAYS: z.coerce.number().min(0.01).max(90).default(7),
  /** Activations and releases per address: `30/2` is thirty at once, and one more every two seconds. */
  LIMIT_IP: rateVariable('30/2'),
  /** Checks per address. */
  LIMIT_CHECK: rateVariable('120/0.5'),
  /** Calls of the operators' API per token, and per address. */
  LIMIT_OPERATORS: rateVariable('300/0.1'),
  /** Failures per address. */
  LIMIT_IP_FAIL: rateVariable('20/60'),
  /** Failures per key. */
  LIMIT_KEY_FAIL: rateVariable('20/360'),
  /** After this Redis is taken for away, and attempts are counted in memory. */
  LIMIT_TIMEOUT_MILLIS: z.coerce.number().int().min(1).max(5_000).default(50),
};

export type Config = ReturnType<typeof readConfig>;

export const readConfig = (from: Record<string, string | undefined> = process.env) =>
  parseEnvironment(environment, from);
