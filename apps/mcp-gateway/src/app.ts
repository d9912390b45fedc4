/** Assembles mcp-gateway from its configuration, without listening on a port yet. */
import { MusterError, NoAnswer } from '@muster/client';
import { ApiError, internalError, apiErrorFromBody, serviceUnavailable } from '@muster/contract';
import { createService, addIssuerTo401, type Service } from '@muster/http';
import { type Logger } from 'pino';
import { createApi } from './http/api.ts';
import { type GatewayConfig } from './config.ts';
import { addMcpRoute } from './http/http.ts';
import { createMcp } from './protocol/server.ts';

export interface Gateway {
  readonly httpService: Service;
  /** Closes the connections to the API. Call it after the service has stopped. */
  readonly close: () => Promise<void>;
}

/**
 * The number of concurrent calls per connection to the API. Calls spend most of their time waiting for the
 * API, so with more calls the API would be the bottleneck rather than the gateway.
 */
const maxCallsPerConnection = 4;

/**
 * Maximum number of JSON values in a message. A message is parsed several times; an import of 2,000 stories
 * with 20 labels has 62,000 values.
 */
const maxJsonValues = { usual: 10_000, large: 100_000 };

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof MusterError) return apiErrorFromBody(error.body, error.retryAfterSeconds);
  if (error instanceof NoAnswer) return serviceUnavailable('api_away');
  return internalError();
}

export async function createGateway(config: GatewayConfig, logger: Logger): Promise<Gateway> {
  const api = createApi({
    url: config.COORDINATION_API_URL,
    connections: config.API_CONNECTIONS,
    key: config.MCP_GATEWAY_KEY[0],
  });
  const service = createService({
    name: 'mcp-gateway',
    logger,
    checks: [
      {
        name: 'coordination-api',
        needed: true,
        run: async () => ((await api.isReady()) ? undefined : 'the API is not ready'),
      },
    ],
    maxInFlight: config.API_CONNECTIONS * maxCallsPerConnection,
    valueLimits: maxJsonValues,
    trustProxy: config.TRUST_PROXY ?? false,
    toApiError,
  });
  if (config.OAUTH_ISSUER !== undefined) addIssuerTo401(service.app, config.OAUTH_ISSUER);
  addMcpRoute(service.app, {
    api,
    mcp: await createMcp(config.OAUTH_ISSUER),
    originRules: { host: config.HOST, allowedOrigins: config.ALLOWED_ORIGINS },
    retrySeconds: config.RETRY_SECONDS,
    listRate: config.LIMIT_LISTS,
    releaseRequestSlot: service.releaseSlot,
    metrics: service.metrics,
    logger,
  });
  return { httpService: service, close: () => api.close() };
}
