/** What coordination-api takes from its environment. */
import { parseSeatPrices } from '@muster/billing';
import {
  commonEnvironment,
  ConfigError,
  parsedVariable,
  parseEnvironment,
  parseKeys,
  parseOrigins,
  rateVariable,
  RedisUrl,
  requireSafeAddress,
  TrustProxy,
} from '@muster/http';
import { SubjectUrl } from '@muster/notifications';
import { parseNetworks } from '@muster/outbound';
import { parseNodes } from '@muster/placement';
import { z } from 'zod';

/** A default must stop no import and no load test. */
const hardlyAny = '1000000/0.001';

export const environment = {
  ...commonEnvironment,
  /** The port it listens on. */
  PORT: commonEnvironment.PORT.default(4100),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4110),
  /** A login that may become muster_app. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /**
   * Further servers that organizations are at, as `eu=postgres://…,us=postgres://…`, with the same login; DATABASE_URL names the
   * one that knows where each of them is. The API, the worker, sign-in and the operators' commands need the same.
   */
  DATABASE_NODES: parsedVariable(parseNodes),
  /** Connections to Postgres at most, per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /**
   * A standby of that database, with the same login: it answers reads whose callers send `Muster-Position`, once it has come
   * so far. All copies of the API need the same.
   */
  DATABASE_REPLICA_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  /** After this the primary answers a read that the standby has not answered. */
  DATABASE_REPLICA_TIMEOUT_MILLIS: z.coerce.number().int().min(10).max(60_000).default(1_000),
  /**
   * For counting calls over all processes; without it each counts for itself. Several hosts with commas between are a
   * cluster, `redis+sentinel://host:26379,host:26379/name` a group that sentinels watch.
   */
  REDIS_URL: RedisUrl.optional(),
  /** Where /api/mcp goes on to; without it nothing answers there. */
  MCP_GATEWAY_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * Proves that a call comes through the MCP gateway, which has the same: at least 32 characters. OAuth tokens for /api/mcp
   * are accepted nowhere else. Needed with MCP_GATEWAY_URL and SIGN_IN_URL. Several with commas between: any is accepted.
   */
  MCP_GATEWAY_KEY: parsedVariable(parseKeys),
  /**
   * Where the service is in which people sign in; without it there are no pages for that, and no session counts. Needs
   * BASE_URL, with https or of this machine alone.
   */
  SIGN_IN_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Where /console comes from; without it nothing answers there. */
  CONSOLE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The address callers use, as it stands in /openapi.json. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Where the guides are, for those who look for them. */
  DOCS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Where the license service is, for those who look for it. */
  LICENSE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Where weaknesses of this installation are to be reported: `mailto:security@example.com`, or the address of a page. */
  SECURITY_CONTACT: z.url({ protocol: /^(mailto|https)$/ }).optional(),
  /** Origins whose pages may call this API from a browser, with commas between, or `*` for all; none unless set. */
  CORS_ORIGINS: z
    .string()
    .transform((list) => (list.trim() === '*' ? '*' : parseOrigins(list)))
    .optional(),
  /** Whose X-Forwarded-For is believed: a list of addresses or networks, or a number of hops. */
  TRUST_PROXY: TrustProxy.optional(),
  /**
   * Calls per token: `1000/0.01` is a thousand at once, and one more every hundredth of a second. Practically no
   * limit unless set; Compose and the manifests for Kubernetes set it.
   */
  LIMIT_TOKEN: rateVariable(hardlyAny),
  /** Calls per organization, with all its tokens. */
  LIMIT_ORGANIZATION: rateVariable(hardlyAny),
  /** Unknown tokens, per address (of IPv6 per network): past it the database is not asked about more of them. */
  LIMIT_UNKNOWN_TOKENS: rateVariable('2000/0.05'),
  /** Deliveries of a forge, per connection. */
  LIMIT_DELIVERIES: rateVariable('600/0.1'),
  /**
   * Seals the secrets of webhooks, of connections to forges and of identity providers in the database, together with a key
   * there: at least 32 characters. Several with commas between: the first seals, any opens. Without it a copy of the database
   * opens them. The API, the worker and sign-in need the same.
   */
  SECRETS_KEY: parsedVariable(parseKeys),
  /** After this Redis counts as away, and calls are counted in memory. */
  LIMIT_TIMEOUT_MILLIS: z.coerce.number().int().min(1).max(5_000).default(50),
  /**
   * Networks besides the public ones that webhooks may be sent to, and forges and identity providers called in, such as
   * `10.0.0.0/8,127.0.0.0/8:*`: at the ports 80, 443 and 8443, or at the one after it, or all (`*`). The API, the worker
   * and sign-in need the same.
   */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /** Where people see what an event is about, for webhooks: an address with `{type}`, `{id}`, `{key}` and `{projectId}`. */
  SUBJECT_URL: SubjectUrl,
  /** What seats cost, as JSON by plan, where it is not what ships. */
  SEAT_PRICING: parsedVariable(parseSeatPrices, '{}'),
};

export type Config = ReturnType<typeof readConfig>;

/** Throws if people are to sign in without a safe BASE_URL, or clients of MCP without a key of the gateway. */
export function readConfig(from: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, from);
  if (config.SIGN_IN_URL === undefined) return config;
  requireSafeAddress(config.BASE_URL);
  if (config.MCP_GATEWAY_URL !== undefined && config.MCP_GATEWAY_KEY.length === 0)
    throw new ConfigError(
      'the configuration does not fit:\n  MCP_GATEWAY_URL and SIGN_IN_URL together need MCP_GATEWAY_KEY, as the gateway has it',
    );
  return config;
}
