import { createServer } from 'node:net';

/** The default port of each app, counted from PORT_BASE, and the variable that sets it. */
export const portsOfApps = {
  'coordination-api': { offset: 0, variable: 'COORDINATION_API_PORT' },
  'mcp-gateway': { offset: 1, variable: 'MCP_GATEWAY_PORT' },
  'license-service': { offset: 2, variable: 'LICENSE_SERVICE_PORT' },
  'delivery-worker': { offset: 3, variable: 'DELIVERY_WORKER_PORT' },
  docs: { offset: 4, variable: 'DOCS_PORT' },
  'sign-in': { offset: 5, variable: 'SIGN_IN_PORT' },
  console: { offset: 6, variable: 'CONSOLE_PORT' },
} as const;

export type AppName = keyof typeof portsOfApps;

const DEFAULT_BASE = 4100;
const lastPort = 65_535;

/** The offset from an app's port to the port of its metrics. */
const metricsOffset = 10;

export const metricsPortOf = (port: number): number => port + metricsOffset;

/** The distance from PORT_BASE to the last port that is computed from PORT_BASE. */
const farthest = metricsPortOf(Math.max(...Object.values(portsOfApps).map(({ offset }) => offset)));

export function portOfApp(name: AppName, environment: NodeJS.ProcessEnv): number {
  const { offset, variable } = portsOfApps[name];
  const base = readPort('PORT_BASE', environment) ?? DEFAULT_BASE;
  const own = readPort(variable, environment);
  if (own !== undefined) return own;
  if (base + offset <= lastPort) return base + offset;
  throw new Error(`PORT_BASE leaves no port for ${name}: "${base}" (1 to ${lastPort - farthest})`);
}

/** Returns the port in an environment variable, or undefined if it is not set. */
export function readPort(variable: string, environment: NodeJS.ProcessEnv): number | undefined {
  const text = environment[variable];
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= lastPort) return port;
  throw new Error(`${variable} is no port: "${text}" (1 to ${lastPort})`);
}

/**
 * Lists the two ports that an app listens on: the app's own port, and the port of its metrics. The app's
 * variable determines both.
 */
export const portsOf = ({ name, port, variable }: ProgramPort): ProgramPort[] => [
  { name, port, variable },
  { name: `the metrics of ${name}`, port: metricsPortOf(port), variable },
];

/** A port for a program, and the variable that sets it. */
export interface ProgramPort {
  readonly name: string;
  readonly port: number;
  readonly variable: string;
}

/** Checks all ports of the apps like refuseTakenPorts. run.mjs calls it before anything is installed. */
export const refuseTakenPortsOfApps = (environment: NodeJS.ProcessEnv): Promise<void> =>
  refuseTakenPorts(
    (Object.keys(portsOfApps) as AppName[]).flatMap((name) =>
      portsOf({ name, port: portOfApp(name, environment), variable: portsOfApps[name].variable }),
    ),
  );

/**
 * Throws a one-line error if a port cannot be used, with the variable to set. It runs before anything starts.
 */
export async function refuseTakenPorts(wanted: readonly ProgramPort[]): Promise<void> {
  const seen = new Map<number, string>();
  for (const { name, port, variable } of wanted) {
    const other = seen.get(port);
    if (other !== undefined)
      throw new Error(`${name} and ${other} have the same port ${port}: set ${variable}`);
    seen.set(port, name);
    const code = await whyPortIsNotFree(port);
    if (code === undefined) continue;
    const reason = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${code})`;
    const all = variable in allVariables ? ', or PORT_BASE to move all' : '';
    throw new Error(`port ${port} of ${name} ${reason}: set ${variable}${all}`);
  }
}

const allVariables: Readonly<Record<string, true>> = Object.fromEntries(
  Object.values(portsOfApps).map(({ variable }) => [variable, true]),
);

async function whyPortIsNotFree(port: number): Promise<string | undefined> {
  // A port that is computed from a configured port may exceed the largest valid port.
  if (port > lastPort) return `the last one is ${lastPort}`;
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
}
