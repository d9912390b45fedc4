/** What mcp-gateway takes from its environment. */
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
  /** Where coordination-api is; everything is asked there, with the caller's own token. */
  COORDINATION_API_URL: z.url({ protocol: /^https?$/ }),
  /**
   * Proves to coordination-api that a call comes through the gateway: at least 32 characters, and the API has the same. OAuth
   * tokens for /api/mcp need it. Of several with commas between, the first is sent.
   */
  MCP_GATEWAY_KEY: parsedVariable(parseKeys),
  /** Connections to it at most, and as many again for calls that wait. */
  API_CONNECTIONS: z.coerce.number().int().min(1).max(1_000).default(128),
  /** How long a call is tried again while the API is away; clients give up on their own after a minute or so. */
  RETRY_SECONDS: z.coerce.number().min(0).max(30).default(5),
  /** Requests per token that need no call of the API, such as lists of tools: burst/seconds for one more. */
  LIMIT_LISTS: rateVariable('300/0.05'),
  /** Pages whose scripts may call, as origins with commas between; none unless named. */
  ALLOWED_ORIGINS: parsedVariable(parseOrigins),
  /** Who gives tokens to clients, as each 401 tells them: BASE_URL of sign-in. Without it people make tokens, and paste them. */
  OAUTH_ISSUER: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Whose X-Forwarded-For is believed: a list of addresses or networks, or a number of hops. */
  TRUST_PROXY: TrustProxy.optional(),
};

export type Config = ReturnType<typeof readConfig>;

/** Throws if clients are to get OAuth tokens that coordination-api would not accept from this gateway. */
export function readConfig(from: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, from);
  if (config.OAUTH_ISSUER !== undefined && config.MCP_GATEWAY_KEY.length === 0)
    throw new ConfigError(
      'the configuration does not fit:\n  OAUTH_ISSUER needs MCP_GATEWAY_KEY, as coordination-api has it',
    );
  return config;
}
