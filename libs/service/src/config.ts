/** The environment, parsed once at start-up; a wrong variable stops the start with a message that names it. */
import { z } from 'zod';

/** A TCP port as it stands in the environment. */
export const Port = z.coerce.number().int().min(0).max(65_535);

/** What each app's configuration has. */
export const commonEnvironment = {
  /** Where it listens. */
  PORT: Port,
  /** The address it listens on. */
  HOST: z.string().default('0.0.0.0'),
  /** How long a balancer may need to see that a stopping service is not ready any more. */
  DRAIN_NOTICE_MILLIS: z.coerce.number().int().min(0).max(120_000).default(0),
  /** The least that is logged. */
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
};

export class ConfigError extends Error {}

/** Parses the environment. Throws a ConfigError whose message has a line for each variable that does not fit. */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  environment: Record<string, string | undefined>,
): z.output<z.ZodObject<Shape>> {
  // An empty variable is one that is not set: shells and compose files cannot unset.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const variable = issue.path.map(String).join('.');
    return given[variable] === undefined ? `${variable} is not set` : `${variable} ${issue.message}`;
  });
  throw new ConfigError(`the configuration does not fit:\n  ${lines.join('\n  ')}`);
}
