/** What coordination-api takes from its environment. */
import { parseSeatPrices } from '@muster/billing';
import { commonEnvironment, parseEnvironment } from '@muster/service';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  /** Where it listens. */
  PORT: commonEnvironment.PORT.default(4100),
  /** A login that may become muster_app. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Connections to Postgres at most, per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /** For rate limits; without it the service is ready, degraded. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** Where /api/mcp goes on to; without it nothing answers there. */
  MCP_GATEWAY_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The address callers use, as it stands in /openapi.json. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Where the guides are, for those who look for them. */
  DOCS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Where the license service is, for those who look for it. */
  LICENSE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Origins whose pages may call this API from a browser, with commas between, or `*` for all; none unless set. */
  CORS_ORIGINS: z
    .string()
    .transform((list) => (list.trim() === '*' ? '*' : list.split(',').map((part) => part.trim())))
    .optional(),
  /** Whose X-Forwarded-For is believed: a list of addresses or networks. */
  TRUST_PROXY: z
    .string()
    .transform((list) => list.split(',').map((part) => part.trim()))
    .optional(),
  /** What seats cost, as JSON by plan, where it is not what ships. */
  SEAT_PRICING: z
    .string()
    .default('{}')
    .transform((text, context) => {
      try {
        return parseSeatPrices(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    }),
};

export type Config = ReturnType<typeof readConfig>;

export const readConfig = (from: Record<string, string | undefined> = process.env) =>
  parseEnvironment(environment, from);
