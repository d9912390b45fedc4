/** Parses the messages between a client and PostgreSQL, as far as a relay has to understand them. */

export interface WireMessage {
  /** The type letter of the message. It is empty for a client's first message, which has none. */
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * Splits a byte stream into messages. Each has a type letter and a length; only a client's first message has
 * no letter.
 */
export function messagesOf(side: 'client' | 'server'): (chunk: Buffer) => WireMessage[] {
  let rest: Buffer = Buffer.alloc(0);
  let greeted = side === 'server';
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const messages: WireMessage[] = [];
    for (;;) {
      const head = greeted ? 1 : 0;
      if (rest.length < head + 4) return messages;
      const end = head + rest.readUInt32BE(head);
      if (rest.length < end) return messages;
      const bytes = rest.subarray(0, end);
      messages.push({ type: greeted ? String.fromCharCode(bytes[0] ?? 0) : '', bytes });
      greeted = true;
      rest = rest.subarray(end);
    }
  };
}

/** The Flush message, which makes the server send its pending output. */
export const flush = Buffer.from([0x48, 0, 0, 0, 4]);

const textUntilZero = (bytes: Buffer, from: number): { text: string; end: number } => {
  const end = bytes.indexOf(0, from);
  return { text: bytes.toString('utf8', from, end), end: end + 1 };
};

/** Reads the statement name and the SQL of a Parse message. */
export function readParse({ bytes }: WireMessage): { name: string; sql: string } {
  const name = textUntilZero(bytes, 5);
  return { name: name.text, sql: textUntilZero(bytes, name.end).text };
}

/** Returns the Parse message with other SQL. */
export function withSql({ bytes, type }: WireMessage, sql: string): WireMessage {
  const name = textUntilZero(bytes, 5);
  const before = textUntilZero(bytes, name.end);
  const body = Buffer.concat([
    bytes.subarray(5, name.end),
    Buffer.from(`${sql}\0`),
    bytes.subarray(before.end),
  ]);
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return { type, bytes: Buffer.concat([head, body]) };
}

/** Reads the statement name of a Bind message. */
export function readBind({ bytes }: WireMessage): string {
  const portal = textUntilZero(bytes, 5);
  return textUntilZero(bytes, portal.end).text;
}

/** Reads the id of the backend process from a BackendKeyData message. */
export const readBackendPid = ({ bytes }: WireMessage): number => bytes.readUInt32BE(5);
