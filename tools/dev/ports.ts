import { once } from 'node:events';
import { createServer } from 'node:net';

/** Each app's port when nothing is said, counted from PORT_BASE, and the variable that moves it alone. */
export const portsOfApps = {
  'coordination-api': { offset: 0, variable: 'COORDINATION_API_PORT' },
  'mcp-gateway': { offset: 1, variable: 'MCP_GATEWAY_PORT' },
  'license-service': { offset: 2, variable: 'LICENSE_SERVICE_PORT' },
  'delivery-worker': { offset: 3, variable: 'DELIVERY_WORKER_PORT' },
  docs: { offset: 4, variable: 'DOCS_PORT' },
} as const;

export type AppName = keyof typeof portsOfApps;

const DEFAULT_BASE = 4100;

export function portOfApp(name: AppName, environment: NodeJS.ProcessEnv): number {
  const { offset, variable } = portsOfApps[name];
  const base = readPort('PORT_BASE', environment) ?? DEFAULT_BASE;
  return readPort(variable, environment) ?? base + offset;
}

/** A port that the environment names; undefined when it names none. */
export function readPort(variable: string, environment: NodeJS.ProcessEnv): number | undefined {
  const text = environment[variable];
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Error(`${variable} is no port: "${text}" (1 to 65535)`);
}

/** Says in one line which port cannot be used and what to set; nothing has been started by then. */
export async function refuseTakenPorts(
  wanted: readonly { readonly name: string; readonly port: number; readonly variable: string }[],
): Promise<void> {
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

/** A port that nobody listens on right now. Another may take it before we do: callers try again. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return address.port;
}

async function whyPortIsNotFree(port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
}
