/** What coordination-api takes from its environment. */
import { parseSeatPrices } from '@muster/billing';
import { commonEnvironment, parseEnvironment } from '@muster/service';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  PORT: commonEnvironment.PORT.default(4100),
  /** A login that may become muster_app. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Connections to Postgres at most, per process. */
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /** For rate limits; without it the service is ready, degraded. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** The address callers use, as it stands in /openapi.json. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
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
