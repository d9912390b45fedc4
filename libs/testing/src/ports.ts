import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above the last port that fetch refuses (10080), below what Linux, macOS and Windows give to outgoing connections. */
const lowest = 10_081;
const beyond = 32_768;

/**
 * A port that no process listens on, for what has to be known by its address before it is there. It is drawn where
 * no outgoing connection takes it meanwhile; another listener still may.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, beyond);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
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
