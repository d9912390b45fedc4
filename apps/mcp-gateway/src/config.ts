/** The environment variables of mcp-gateway. */
import {
  commonEnvironment,
  ConfigError,
  parsedVariable,
  parseEnvironment,
  parseKeys,
  parseOrigins,
  rateVariable,
  TrustProxy,
} from '@muster/http';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  PORT: commonEnvironment.PORT.default(4101),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4111),
  /** URL of coordination-api. The gateway forwards each call to it with the caller's own token. */
  COORDINATION_API_URL: z.url({ protocol: /^https?$/ }),
  /**
   * A secret of at least 32 characters, shared with coordination-api, which proves that a call comes through
   * the gateway. OAuth tokens for /api/mcp require it. In a comma-separated list, the first one is sent.
   */
  MCP_GATEWAY_KEY: parsedVariable(parseKeys),
  /**
   * Maximum number of connections to coordination-api for calls that are answered immediately. Long polls get
   * the same number of connections in addition.
   */
  API_CONNECTIONS: z.coerce.number().int().min(1).max(1_000).default(128),
  /**
   * Duration for which a call is retried while the API is unavailable. Clients usually time out after about a
   * minute.
   */
  RETRY_SECONDS: z.coerce.number().min(0).max(30).default(5),
  /**
   * Rate limit per token for requests that need no call of the API, such as tool lists: burst/seconds per
   * further request.
   */
  LIMIT_LISTS: rateVariable('300/0.05'),
  /** Comma-separated origins of web pages whose scripts may call the gateway; none by default. */
  ALLOWED_ORIGINS: parsedVariable(parseOrigins),
  /**
   * The OAuth issuer that each 401 response names: BASE_URL of sign-in. Without it, members create tokens and
   * paste them.
   */
  OAUTH_ISSUER: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Proxies whose X-Forwarded-For is trusted: a list of addresses or networks, or a number of hops. */
  TRUST_PROXY: TrustProxy.optional(),
};

export type GatewayConfig = ReturnType<typeof readConfig>;

/**
 * Reads the configuration. Throws if clients would get OAuth tokens that coordination-api rejects from this
 * gateway.
 */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, variables);
  if (config.OAUTH_ISSUER !== undefined && config.MCP_GATEWAY_KEY.length === 0)
    throw new ConfigError(
      'The configuration is invalid:\n  OAUTH_ISSUER requires MCP_GATEWAY_KEY, with the same value as in coordination-api',
    );
  return config;
}
