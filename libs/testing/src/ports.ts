import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The range of ports: above the last port that fetch rejects (10080), and below the ports that Linux, macOS
 * and Windows use for outgoing connections.
 */
const minPort = 10_081;
const portsEnd = 32_768;

/**
 * Returns a port on which no process listens, for a program whose address must be known before it starts.
 * No outgoing connection takes the port in between; another listener still may.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(minPort, portsEnd);
    if (await isPortFree(port)) return port;
  }
}

async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
