/** The environment, parsed once at start-up; a wrong variable stops the start with a message that names it. */
import { parseRedisUrl } from '@muster/redis';
import { samplerNames } from '@muster/tracing';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** A TCP port as it stands in the environment. */
export const Port = z.coerce.number().int().min(0).max(65_535);

/**
 * Whose X-Forwarded-For is believed: a number of hops, or a list of addresses and networks. Never everybody: then any caller
 * could name any address.
 */
export const TrustProxy = z.string().transform((text, context): string[] | number => {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const list = text.split(',').map((part) => part.trim());
  if (list.every((one) => ipaddr.isValid(one) || ipaddr.isValidCIDR(one))) return list;
  context.addIssue({ code: 'custom', message: 'is neither a list of addresses nor a number of hops' });
  return z.NEVER;
});

/** Origins of pages, with commas between, as browsers say them: without the slash at the end of an address. */
export const parseOrigins = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim().replace(/\/+$/, ''))
    .filter((part) => part !== '');

const minKeyLength = 32;

/** Comma-separated keys of at least 32 characters, the current one first. Throws if a key is shorter. */
export function parseKeys(text: string): string[] {
  const keys = text
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  if (keys.some((key) => key.length < minKeyLength))
    throw new Error(`must be keys of at least ${minKeyLength} characters`);
  return keys;
}

/** An address of Redis, as parseRedisUrl reads it; what is said of a wrong one repeats none of it. */
export const RedisUrl = z.string().superRefine((text, context) => {
  try {
    parseRedisUrl(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

/** What each app's configuration has. */
export const commonEnvironment = {
  /** The port it listens on. */
  PORT: Port,
  /** The port of /metrics, for monitoring alone. */
  METRICS_PORT: Port,
  /** The address it listens on. */
  HOST: z.string().default('0.0.0.0'),
  /** How long a balancer may need to see that a stopping service is not ready any more. */
  DRAIN_NOTICE_MILLIS: z.coerce.number().int().min(0).max(120_000).default(0),
  /** The lowest level that is logged. */
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Where traces go, as OTLP over HTTP in JSON, such as `http://collector:4318`; without it none are made. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Headers that go with them, such as a key: `name=value` with commas between. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  /** Which traces are kept. */
  OTEL_TRACES_SAMPLER: z.enum(samplerNames).default('parentbased_always_on'),
  /** The share that is kept, from 0 to 1, by the samplers that keep a share. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  /** How long spans are gathered before they go out together. */
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(1).max(60_000).default(5_000),
  /** What else traces say of this process: `name=value` with commas between. */
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
};

/**
 * A variable that `parse` makes something of, `usual` where it is not set. What it throws is what is said of the variable,
 * so it repeats no secret.
 */
export const parsedVariable = <Value>(parse: (text: string) => Value, usual = '') =>
  z
    .string()
    .default(usual)
    .transform((text, context): Value => {
      try {
        return parse(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    });

export class ConfigError extends Error {}

/** Parses the environment. Throws a ConfigError whose message has a line for each variable that does not fit. */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  environment: Record<string, string | undefined>,
): z.output<z.ZodObject<Shape>> {
  // An empty variable is one that is not set: shells and compose files cannot unset. Of blanks a number would be 0.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim() !== ''));
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const variable = issue.path.map(String).join('.');
    return given[variable] === undefined ? `${variable} is not set` : `${variable} ${issue.message}`;
  });
  throw new ConfigError(`the configuration does not fit:\n  ${lines.join('\n  ')}`);
}
