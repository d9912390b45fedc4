/**
 * Parses the environment once at startup. An invalid variable aborts the start with a message that names it.
 */
import { parseRedisUrl } from '@muster/redis';
import { samplerNames } from '@muster/tracing';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** A TCP port from the environment. */
export const Port = z.coerce.number().int().min(0).max(65_535);

/**
 * The proxies whose X-Forwarded-For is trusted: a number of hops, or a list of addresses and networks.
 * Trusting everyone is impossible, since any caller could then claim any address.
 */
export const TrustProxy = z.string().transform((text, context): string[] | number => {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const list = text.split(',').map((part) => part.trim());
  if (list.every((one) => ipaddr.isValid(one) || ipaddr.isValidCIDR(one))) return list;
  context.addIssue({ code: 'custom', message: 'must be a list of IP addresses or a number of hops' });
  return z.NEVER;
});

/**
 * Parses a comma-separated list of origins. A slash at the end of an address is removed, as browsers send
 * origins.
 */
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

/** An address of Redis, as parseRedisUrl parses it. Error messages repeat no part of an invalid one. */
export const RedisUrl = z.string().superRefine((text, context) => {
  try {
    parseRedisUrl(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

/** The configuration variables that all apps share. */
export const commonEnvironment = {
  /** The port that it listens on. */
  PORT: Port,
  /** The port of /metrics, for monitoring only. */
  METRICS_PORT: Port,
  /** The address that it listens on. */
  HOST: z.string().default('0.0.0.0'),
  /**
   * The time in milliseconds that a load balancer may need to notice that a stopping service is no longer
   * ready.
   */
  DRAIN_NOTICE_MILLIS: z.coerce.number().int().min(0).max(120_000).default(0),
  /** The lowest level that is logged. */
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /**
   * The address that receives traces as OTLP over HTTP in JSON, such as `http://collector:4318`. Without it
   * no traces are recorded.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Headers of trace requests, such as a key: `name=value`, separated by commas. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  /** The sampler, which selects the traces to keep. */
  OTEL_TRACES_SAMPLER: z.enum(samplerNames).default('parentbased_always_on'),
  /** The share of traces to keep, from 0 to 1, for samplers that keep a share. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  /** The maximum time in milliseconds that spans are batched before they are sent. */
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(1).max(60_000).default(5_000),
  /** Additional attributes of this process in traces: `name=value`, separated by commas. */
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
};

export type CommonConfig = z.output<z.ZodObject<typeof commonEnvironment>>;

/**
 * Declares a variable with a custom parser; `usual` is the default. The parser's error message is shown to
 * operators, so it must repeat no secret.
 */
export const parsedVariable = <Value>(parse: (text: string) => Value, defaultText = '') =>
  z
    .string()
    .default(defaultText)
    .transform((text, context): Value => {
      try {
        return parse(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    });

export class ConfigError extends Error {}

/** Parses the environment. Throws a ConfigError whose message has a line for each invalid variable. */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  environment: Record<string, string | undefined>,
): z.output<z.ZodObject<Shape>> {
  // An empty variable counts as not set, since shells and compose files cannot unset one. Blanks would
  // otherwise parse as the number 0.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim() !== ''));
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const variable = issue.path.map(String).join('.');
    return given[variable] === undefined ? `${variable} is not set` : `${variable} ${issue.message}`;
  });
  throw new ConfigError(`The configuration is invalid:\n  ${lines.join('\n  ')}`);
}
