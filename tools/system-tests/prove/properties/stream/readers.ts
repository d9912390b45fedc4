/**
 * Readers of `GET /api/events/stream`. They keep everything that they receive, and reconnect with the last
 * id.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { type Scope } from '../../services.ts';

/** A received block of the stream. */
export interface ReceivedBlock {
  readonly id: string | null;
  readonly event: string;
  /** The id in the data of an activity event; null for other blocks. */
  readonly eventId: string | null;
  readonly bytes: number;
}

export interface StreamReader {
  readonly blocks: ReceivedBlock[];
  /** The number of connections that were answered with a stream. */
  connections: number;
  /** Unexpected answers. */
  readonly odd: string[];
}

export interface Readers {
  readonly all: readonly StreamReader[];
  /** Waits until every reader has received its first block. */
  readonly begun: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Statuses after which a reader simply reconnects. The instance may be stopping, or the reader's old
 * connection may still occupy a slot.
 */
const comeAgain = new Set([429, 503]);
const pauseMillis = 50;

/** Opens one reader per token. `at` returns the address of the instance for a reader's next connection. */
export function openReaders(
  scope: Scope,
  tokens: readonly string[],
  at: (index: number, connections: number) => string,
): Readers {
  // A stream may send nothing for 15 s. This timeout is longer, and ends a dead connection.
  const agent = new Agent({ bodyTimeout: 60_000, headersTimeout: 60_000 });
  scope.onStop(() => agent.destroy());
  const over = new AbortController();
  const isOver = (): boolean => over.signal.aborted;
  const follow = async (reader: StreamReader, token: string, index: number): Promise<void> => {
    let last: string | null = null;
    for (let tries = 0; !isOver(); tries += 1) {
      try {
        const { statusCode, body }: Dispatcher.ResponseData = await request(
          `${at(index, tries)}/api/events/stream`,
          {
            headers: {
              authorization: `Bearer ${token}`,
              ...(last !== null && { 'last-event-id': last }),
            },
            dispatcher: agent,
            signal: over.signal,
          },
        );
        if (statusCode !== 200) {
          const text = await body.text();
          if (!comeAgain.has(statusCode)) reader.odd.push(`${statusCode} ${text.slice(0, 200)}`);
        } else {
          reader.connections += 1;
          for await (const block of blocksIn(body)) {
            reader.blocks.push(block);
            last = block.id ?? last;
          }
        }
      } catch {
        // The connection was cut or refused, so the reader tries another one.
      }
      if (!isOver()) await pause(pauseMillis);
    }
  };
  const all = tokens.map((): StreamReader => ({ blocks: [], connections: 0, odd: [] }));
  const following = Promise.all(all.map((reader, index) => follow(reader, tokens[index] ?? '', index)));
  return {
    all,
    begun: async () => {
      while (all.some(({ blocks }) => blocks.length === 0)) await pause(pauseMillis);
    },
    close: async () => {
      over.abort();
      await following;
    },
  };
}

async function* blocksIn(body: AsyncIterable<Buffer>): AsyncGenerator<ReceivedBlock> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    const whole = rest.split('\n\n');
    rest = whole.pop() ?? '';
    yield* whole.map(blockOf);
  }
}

function blockOf(text: string): ReceivedBlock {
  const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2))) as {
    readonly id?: string;
    readonly event?: string;
    readonly data?: string;
  };
  const event = fields.event ?? 'message';
  const isActivity = event === 'message' && fields.data !== undefined;
  return {
    id: fields.id ?? null,
    event,
    eventId: isActivity ? (JSON.parse(fields.data ?? '') as { id: string }).id : null,
    bytes: Buffer.byteLength(text),
  };
}
