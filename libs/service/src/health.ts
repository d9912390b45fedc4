/** /livez touches nothing; /readyz asks what the service stands on, with a bound, at most once a second. */
import { type FastifyInstance } from 'fastify';

export interface Check {
  readonly name: string;
  /** Without a needed one the service is not ready; without another it is ready, degraded. */
  readonly needed: boolean;
  /** Throws, or says what is wrong. */
  readonly run: () => Promise<string | undefined>;
}

const boundMillis = 500;
const rememberMillis = 1_000;

type State = 'ok' | 'away';
export interface Readiness {
  readonly status: 'ready' | 'degraded' | 'not_ready';
  readonly checks: Record<string, State>;
}

async function isWell(check: Check): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, boundMillis, 'too slow');
  });
  try {
    return (await Promise.race([check.run(), bound])) === undefined;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Adds /livez and /readyz, and answers what is ready. `isDraining` turns readiness off while the service stops. */
export function addHealth(
  app: FastifyInstance,
  checks: readonly Check[],
  isDraining: () => boolean,
): () => Promise<Readiness> {
  let last: { readonly readiness: Promise<Readiness>; readonly until: number } | undefined;

  const look = async (): Promise<Readiness> => {
    const states = await Promise.all(checks.map(async (check) => ({ check, well: await isWell(check) })));
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

  const readiness = (): Promise<Readiness> => {
    if (last === undefined || last.until < Date.now())
      last = { readiness: look(), until: Date.now() + rememberMillis };
    return last.readiness;
  };

  app.get('/livez', async () => ({ status: 'live' }));
  app.get('/readyz', async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: 'draining', checks: {} });
    const known = await readiness();
    return reply.code(known.status === 'not_ready' ? 503 : 200).send(known);
  });
  return readiness;
}
