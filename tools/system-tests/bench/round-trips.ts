import { startRelay } from '@muster/testing/relay';

/** A proxy between a client and PostgreSQL that counts how often the client waits for an answer. */
export interface RoundTripCounter {
  /** The database address through the proxy. */
  readonly url: string;
  /** Returns the number of round trips since the previous call. */
  take(): number;
  stop(): void;
}

/** A client waits after Sync (extended protocol) and after Query (simple protocol). */
const waits = new Set(['S'.charCodeAt(0), 'Q'.charCodeAt(0)]);

export async function startCounter(databaseUrl: string): Promise<RoundTripCounter> {
  let count = 0;
  const relay = await startRelay(databaseUrl, (client, upstream) => {
    const see = watcher(() => {
      count += 1;
    });
    client.on('data', see);
    client.pipe(upstream);
    upstream.pipe(client);
  });
  return {
    url: relay.through(databaseUrl),
    take: () => {
      const taken = count;
      count = 0;
      return taken;
    },
    stop: () => {
      relay.stop();
    },
  };
}

/** Parses the messages of a client. Each has a type and a length, except the first, which has no type. */
function watcher(onWait: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let greeted = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = greeted ? 1 : 0;
      if (rest.length < head + 4) return;
      const end = head + rest.readUInt32BE(head);
      if (rest.length < end) return;
      if (greeted && waits.has(rest[0] ?? 0)) onWait();
      greeted = true;
      rest = rest.subarray(end);
    }
  };
}
