/**
 * Serves /livez and /readyz. /livez checks nothing. /readyz checks the service's dependencies, with a timeout
 * and at most once a second.
 */
import { productVersion } from '@muster/contract';
import { type FastifyInstance } from 'fastify';
import { type Logger } from 'pino';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError } from './config.ts';
import { type Saturation } from './places.ts';

export interface HealthCheck {
  readonly name: string;
  /**
   * True if the service is not ready without this dependency. Without a dependency that is not needed, the
   * service is ready but degraded.
   */
  readonly needed: boolean;
  /** Checks the dependency. Reports a problem by returning a description or by throwing an error. */
  readonly run: () => Promise<string | undefined>;
  /**
   * Runs before the service listens. Returns a sentence if the service can never work with the dependency,
   * for example because the server is too old.
   */
  readonly findPermanentFault?: () => Promise<string | undefined>;
}

const checkTimeoutMillis = 500;
const reportCacheMillis = 1_000;

type DependencyState = 'ok' | 'away' | 'full';
export interface HealthReport {
  readonly status: 'ready' | 'degraded' | 'not_ready';
  readonly checks: Record<string, DependencyState>;
}

/** Returns the problem that the check returned or threw. */
async function findFault(
  check: HealthCheck,
): Promise<{ readonly why: string } | { readonly err: unknown } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, checkTimeoutMillis, 'too slow');
  });
  try {
    const why = await Promise.race([check.run(), bound]);
    return why === undefined ? undefined : { why };
  } catch (err) {
    return { err };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The time limit of the startup check, in milliseconds. The start continues if a dependency does not answer
 * in time.
 */
const startCheckTimeoutMillis = 5_000;

/**
 * Throws a ConfigError that names the dependencies with which the service can never work. An unavailable
 * dependency passes, since it may be suitable.
 */
export async function requireUsableDependencies(checks: readonly HealthCheck[]): Promise<void> {
  const faults = await Promise.all(
    checks.map(async ({ findPermanentFault }) => {
      const bound = new AbortController();
      try {
        return await Promise.race([
          findPermanentFault?.(),
          pause(startCheckTimeoutMillis, undefined, { signal: bound.signal }),
        ]);
      } catch {
        return undefined;
      } finally {
        bound.abort();
      }
    }),
  );
  const said = faults.filter((fault) => fault !== undefined);
  if (said.length > 0) throw new ConfigError(said.join('\n'));
}

interface HealthOptions {
  readonly logger: Logger;
  /** True while the service stops. It is not ready then. */
  readonly isDraining: () => boolean;
  readonly saturation: () => Saturation;
}

/**
 * Adds the state of the request slots to the readiness. A process that has been refusing callers for a while
 * reports that and stays ready. Such a process still answers as many callers as it can. If it left the load
 * balancer, the other processes would have to answer more. A process in which no request makes progress is
 * not ready.
 */
function addSaturation(report: HealthReport, saturation: Saturation): HealthReport {
  if (saturation === 'none') return report;
  const status =
    saturation === 'stuck' ? 'not_ready' : report.status === 'ready' ? 'degraded' : report.status;
  return { status, checks: { ...report.checks, places: 'full' } };
}

/** Adds /livez and /readyz. Returns the function that checks the readiness. */
export function addHealthRoutes(
  app: FastifyInstance,
  checks: readonly HealthCheck[],
  { logger, isDraining, saturation }: HealthOptions,
): () => Promise<HealthReport> {
  let last: { readonly readiness: Promise<HealthReport>; readonly expiresAtMillis: number } | undefined;

  const before = new Map<string, boolean>();
  /**
   * Logs a changed state. During the start, a missing dependency is not a warning, since the service may be
   * checked before all dependencies run.
   */
  const note = ({ name, needed }: HealthCheck, fault: Awaited<ReturnType<typeof findFault>>): void => {
    const wasThere = before.get(name);
    before.set(name, fault === undefined);
    if (fault !== undefined && wasThere !== false)
      logger[wasThere === true ? 'warn' : 'info'](
        { dependency: name, needed, ...fault },
        'a dependency of the service is unavailable',
      );
    if (fault === undefined && wasThere === false)
      logger.info({ dependency: name }, 'all dependencies of the service are available again');
  };

  const look = async (): Promise<HealthReport> => {
    const states = await Promise.all(
      checks.map(async (check) => {
        const fault = await findFault(check);
        note(check, fault);
        return { check, well: fault === undefined };
      }),
    );
    const status = states.some(({ check, well }) => check.needed && !well)
      ? 'not_ready'
      : states.every(({ well }) => well)
        ? 'ready'
        : 'degraded';
    return {
      status,
      checks: Object.fromEntries(states.map(({ check, well }) => [check.name, well ? 'ok' : 'away'])),
    };
  };

  const readiness = (): Promise<HealthReport> => {
    // A monotonic clock.
    if (last === undefined || last.expiresAtMillis < performance.now())
      last = { readiness: look(), expiresAtMillis: performance.now() + reportCacheMillis };
    return last.readiness;
  };

  app.get('/livez', async () => ({ status: 'live', version: productVersion }));
  app.get('/readyz', async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: 'draining', checks: {} });
    const known = addSaturation(await readiness(), saturation());
    return reply.code(known.status === 'not_ready' ? 503 : 200).send(known);
  });
  return readiness;
}
