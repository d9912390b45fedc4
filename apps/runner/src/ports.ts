/** Allocates a block of ports for a run, distinct from those of all other active runs on this machine. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { openJournal } from './journal.ts';

const maxPortBlocks = 200;
/** The ports that this process allocated, including those that no journal names yet. */
const allocatedFirstPorts = new Set<number>();

async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** Releases the ports of a finished run. */
export const releasePorts = (firstPort: number | undefined): void => {
  if (firstPort !== undefined) allocatedFirstPorts.delete(firstPort);
};

/** Returns the first port of a block of `count` ports that are free now. */
export async function allocatePorts(
  { count, from }: { readonly count: number; readonly from: number },
  commonDir: string,
): Promise<number> {
  const entries = await openJournal(commonDir).listEntries();
  const taken = new Set(entries.map(({ entry }) => entry.work?.portBase));
  for (let block = 0; block < maxPortBlocks; block += 1) {
    const base = from + block * count;
    if (base + count > 65_535) break;
    if (taken.has(base) || allocatedFirstPorts.has(base)) continue;
    allocatedFirstPorts.add(base);
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isPortFree(base + index)));
    if (free.every(Boolean)) return base;
    allocatedFirstPorts.delete(base);
  }
  throw new Error(`no free block of ${count} ports was found from port ${from}`);
}
