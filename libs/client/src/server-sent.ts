/** Server-Sent Events, read from the body of an answer as the HTML standard says. */

export interface ServerSent {
  /** `message` where the server named none. */
  readonly event: string;
  /** The text of its data lines; undefined where it has none, as of an id by itself. */
  readonly data: string | undefined;
  /** The id of this block; undefined where it has none. */
  readonly id: string | undefined;
  /** Milliseconds that the server asks to be left alone after the stream has ended. */
  readonly retry: number | undefined;
}

const empty = { event: 'message', data: undefined, id: undefined, retry: undefined };

/** Each block once it is whole; one that the end cuts off is none. Throws what reading the body throws. */
export async function* serverSentIn(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSent, void, undefined> {
  let block: ServerSent = empty;
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (block !== empty) yield block;
      block = empty;
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

/** Lines end with LF, CR or both, wherever the body is cut into pieces. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A CR at the end may be half of a CRLF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
