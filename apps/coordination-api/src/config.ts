/** The environment variables of coordination-api. */
import { defaultAttachmentsConfig, describeFilesConfigFault, filesEnvironment } from '@muster/attachments';
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
  requireSecureBaseUrl,
  TrustProxy,
} from '@muster/http';
import { SubjectUrl } from '@muster/notifications';
import { parseNetworks } from '@muster/outbound';
import { parseNodes } from '@muster/placement';
import { z } from 'zod';

/** A default limit that no import and no load test reaches. */
const practicallyUnlimited = '1000000/0.001';

export const environment = {
  ...commonEnvironment,
  /** The port that the service listens on. */
  PORT: commonEnvironment.PORT.default(4100),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4110),
  /** URL of the primary database. Its login must be a member of the role muster_app. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /**
   * Further database servers that hold organizations, as `eu=postgres://…,us=postgres://…`, with the same
   * login. The server in DATABASE_URL knows where each organization is. The API, the worker, sign-in and the
   * operators' commands need the same value.
   */
  DATABASE_NODES: parsedVariable(parseNodes),
  /** Maximum number of connections to Postgres, per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /**
   * A standby of the primary database, with the same login. It answers reads whose callers send
   * `Muster-Position`, once it has replayed up to that position. All API processes need the same value.
   */
  DATABASE_REPLICA_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  /** Milliseconds after which the primary answers a read that the standby has not answered. */
  DATABASE_REPLICA_TIMEOUT_MILLIS: z.coerce.number().int().min(10).max(60_000).default(1_000),
  /**
   * URL of Redis, which counts calls over all processes; without it, each process counts its own. A
   * comma-separated list of hosts is a cluster; `redis+sentinel://host:26379,host:26379/name` is a group with
   * sentinels.
   */
  REDIS_URL: RedisUrl.optional(),
  /** The URL that /api/mcp forwards to; without it, the path does not exist. */
  MCP_GATEWAY_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * A secret of at least 32 characters, shared with the MCP gateway, which proves that a call comes through
   * it. OAuth tokens for /api/mcp are accepted only from there. Required with MCP_GATEWAY_URL and
   * SIGN_IN_URL. In a comma-separated list, any key is accepted.
   */
  MCP_GATEWAY_KEY: parsedVariable(parseKeys),
  /**
   * URL of the sign-in service; without it there are no sign-in pages, and sessions are not accepted.
   * Requires a BASE_URL with https or on the loopback interface.
   */
  SIGN_IN_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The URL that /console forwards to; without it, the path does not exist. */
  CONSOLE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The public URL of the API, as it appears in /openapi.json. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * The namespace of the MCP server's name in registries, such as com.example; by default the host of BASE_URL
   * in reverse.
   */
  MCP_NAMESPACE: z
    .string()
    .max(150)
    .regex(/^[a-zA-Z0-9]+([.-][a-zA-Z0-9]+)*$/)
    .optional(),
  /** URL of the guides, for links to them. */
  DOCS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** URL of the license service, for links to it. */
  LICENSE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * Contact for security reports about this installation: `mailto:security@example.com`, or the URL of a
   * page.
   */
  SECURITY_CONTACT: z.url({ protocol: /^(mailto|https)$/ }).optional(),
  /**
   * Comma-separated origins whose pages may call this API from a browser, or `*` for all; none by default.
   */
  CORS_ORIGINS: z
    .string()
    .transform((list) => (list.trim() === '*' ? '*' : parseOrigins(list)))
    .optional(),
  /** Proxies whose X-Forwarded-For is trusted: a list of addresses or networks, or a number of hops. */
  TRUST_PROXY: TrustProxy.optional(),
  /**
   * Rate limit per token: `1000/0.01` allows a burst of 1000 calls and one more every 0.01 s. Practically
   * unlimited by default; Compose and the Kubernetes manifests set it.
   */
  LIMIT_TOKEN: rateVariable(practicallyUnlimited),
  /** Rate limit per organization, for all its tokens together. */
  LIMIT_ORGANIZATION: rateVariable(practicallyUnlimited),
  /**
   * Rate limit for unknown tokens per IPv4 address or IPv6 network. Beyond it, further tokens are rejected
   * without a database query.
   */
  LIMIT_UNKNOWN_TOKENS: rateVariable('2000/0.05'),
  /** Rate limit for deliveries per forge connection. */
  LIMIT_DELIVERIES: rateVariable('600/0.1'),
  /**
   * Encrypts the secrets of webhooks, forge connections and identity providers in the database, together with
   * a key stored there: at least 32 characters. In a comma-separated list, the first key encrypts and any key
   * decrypts. Without it, a copy of the database is enough to decrypt them. The API, the worker and sign-in
   * need the same value.
   */
  SECRETS_KEY: parsedVariable(parseKeys),
  /** Milliseconds after which Redis counts as unavailable, and calls are counted in memory. */
  LIMIT_TIMEOUT_MILLIS: z.coerce.number().int().min(1).max(5_000).default(50),
  /**
   * Non-public networks in which webhooks, forges and identity providers may be called, such as
   * `10.0.0.0/8,127.0.0.0/8:*`. Ports 80, 443 and 8443 are allowed, or the port after the network, or all
   * (`*`). The API, the worker and sign-in need the same value.
   */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /**
   * URL template of the page that shows an event's subject, for webhooks: with `{type}`, `{id}`, `{key}` and
   * `{projectId}`.
   */
  SUBJECT_URL: SubjectUrl,
  /**
   * The signing secret of the Slack app in which questions can be answered; without it, /hooks/slack does not exist. The
   * API and the worker need the same value.
   */
  SLACK_SIGNING_SECRET: z.string().min(16).optional(),
  ...filesEnvironment,
  /** The maximum number of bytes that the attachments of an organization may have together; 10 GiB by default. */
  FILES_PER_ORGANIZATION: z.coerce
    .number()
    .int()
    .min(0)
    .default(defaultAttachmentsConfig.maxBytesPerOrganization),
  /**
   * A command that scans each upload for viruses before it becomes visible, such as `clamdscan --fdpass`. The path of
   * the file is its last argument. It exits with 0 for a clean file and with 1 for an infected one.
   */
  FILES_SCAN_COMMAND: z.string().min(1).optional(),
  /**
   * An address that scans each upload for viruses before it becomes visible. It gets the file by POST, and answers 200
   * for a clean file, and 406 or 422 for an infected one.
   */
  FILES_SCAN_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Seat prices by plan as JSON, if they differ from the defaults. */
  SEAT_PRICING: parsedVariable(parseSeatPrices, '{}'),
};

export type ApiConfig = ReturnType<typeof readConfig>;

/**
 * Reads the configuration. Throws if sign-in is configured without a safe BASE_URL, or together with MCP but
 * without a gateway key.
 */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, variables);
  const filesFault = describeFilesConfigFault(config);
  if (filesFault !== undefined) throw new ConfigError(`The configuration is invalid:\n  ${filesFault}`);
  if (config.SIGN_IN_URL === undefined) return config;
  requireSecureBaseUrl(config.BASE_URL);
  if (config.MCP_GATEWAY_URL !== undefined && config.MCP_GATEWAY_KEY.length === 0)
    throw new ConfigError(
      'The configuration is invalid:\n  If MCP_GATEWAY_URL and SIGN_IN_URL are set, MCP_GATEWAY_KEY must be set too, to the same value as in the gateway',
    );
  return config;
}
