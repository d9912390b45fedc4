/** Reads the event stream from the wire, block by block. */

export interface StreamBlock {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
}

export interface RawStream {
  readonly response: Response;
  /** Returns the complete blocks received so far, in order. */
  readonly blocks: () => StreamBlock[];
  /** Returns the data of blocks with this event name. */
  readonly eventsNamed: (event: string) => unknown[];
  readonly close: () => void;
}

interface StreamOptions {
  /** Base URL, such as `http://127.0.0.1:43210`. */
  readonly at: string;
  readonly token: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

/** Reads the stream until it is closed. */
export async function openRaw({ at, token, query = '', headers = {} }: StreamOptions): Promise<RawStream> {
  const leaving = new AbortController();
  const response = await fetch(`${at}/api/events/stream${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  });
  let text = '';
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    const body = response.body as ReadableStream<Uint8Array> | null;
    for await (const piece of body ?? []) text += decoder.decode(piece, { stream: true });
  };
  read().catch(() => undefined);
  const blocks = (): StreamBlock[] => blocksIn(text);
  return {
    response,
    blocks,
    eventsNamed: (event) => blocks().flatMap((block) => (block.event === event ? [block.data] : [])),
    close: () => leaving.abort(),
  };
}

/** Returns the complete blocks of a text. */
export const blocksIn = (text: string): StreamBlock[] => text.split('\n\n').slice(0, -1).map(blockOf);

function blockOf(text: string): StreamBlock {
  const fields = text.split('\n').map((line) => /^(\w+): (.*)$/.exec(line)?.slice(1) ?? [line, '']);
  const block = Object.fromEntries(fields) as { id?: string; event?: string; data?: string };
  return { ...block, ...(block.data !== undefined && { data: JSON.parse(block.data) as unknown }) };
}
