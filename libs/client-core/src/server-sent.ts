/** A parser of Server-Sent Events in the body of an answer, as the HTML standard defines it. */

export interface ServerSentEvent {
  /** The name of the event; `message` if the server named none. */
  readonly event: string;
  /** The text of the data lines; undefined if the block has none, such as a block with only an id. */
  readonly data: string | undefined;
  /** The id of this event; undefined if its block has none. */
  readonly id: string | undefined;
  /** The time in milliseconds that the server asks the client to wait before it reconnects. */
  readonly retry: number | undefined;
}

const emptyEvent = { event: 'message', data: undefined, id: undefined, retry: undefined };

/**
 * Yields each complete block and drops an incomplete one at the end. Throws the errors of reading the body.
 */
export async function* parseServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let block: ServerSentEvent = emptyEvent;
  for await (const line of splitLines(body)) {
    if (line === '') {
      if (block !== emptyEvent) yield block;
      block = emptyEvent;
      continue;
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'event') block = { ...block, event: value };
    if (name === 'data')
      block = { ...block, data: block.data === undefined ? value : `${block.data}\n${value}` };
    if (name === 'id' && !value.includes('\0')) block = { ...block, id: value };
    if (name === 'retry' && /^\d+$/.test(value)) block = { ...block, retry: Number(value) };
  }
}

/** Splits the body into lines that end with LF, CR or CRLF, also if a chunk ends between CR and LF. */
async function* splitLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A CR at the end of the chunk may be the first half of a CRLF, so it does not end a line yet.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
