/** Readers of `GET /api/events/stream`, who keep all that came to them and go on by the last id. */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { type Scope } from '../../services.ts';

/** A block of the stream as it came. */
export interface Block {
  readonly id: string | null;
  readonly event: string;
  /** The id in its data, of an event of the activity. */
  readonly eventId: string | null;
  readonly bytes: number;
}

export interface Reader {
  readonly blocks: Block[];
  /** How often it connected and was answered. */
  connections: number;
  /** Answers other than the stream that were not to be expected. */
  readonly odd: string[];
}

export interface Readers {
  readonly all: readonly Reader[];
  /** Until each has had its first id. */
  readonly begun: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A copy that is stopping, or a place that its old connection still has. */
const comeAgain = new Set([429, 503]);
const pauseMillis = 50;

/** One for each token; `at` names the copy for the next connection of a reader. */
export function openReaders(
  scope: Scope,
  tokens: readonly string[],
  at: (index: number, connections: number) => string,
): Readers {
  // Of nothing a stream sends for 15 s; it is the reader's own time that ends a dead one.
  const agent = new Agent({ bodyTimeout: 60_000, headersTimeout: 60_000 });
  scope.onStop(() => agent.destroy());
  const over = new AbortController();
  const isOver = (): boolean => over.signal.aborted;
  const follow = async (reader: Reader, token: string, index: number): Promise<void> => {
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
        // The connection was cut, or nothing listens there: another one is tried.
      }
      if (!isOver()) await pause(pauseMillis);
    }
  };
  const all = tokens.map((): Reader => ({ blocks: [], connections: 0, odd: [] }));
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

async function* blocksIn(body: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    const whole = rest.split('\n\n');
    rest = whole.pop() ?? '';
    yield* whole.map(blockOf);
  }
}

function blockOf(text: string): Block {
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
