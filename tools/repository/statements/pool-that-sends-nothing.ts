/**
 * A connection pool that answers each statement with made-up rows. It parses the wire protocol to learn which
 * statements were sent.
 */
import { type Pool } from '@muster/driver';

/** The methods of the pipelined query that the pool calls. */
interface Burst {
  submit(connection: { readonly stream: { write(bytes: Buffer): void } }): void;
  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void;
  handleDataRow(message: { fields: string[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleReadyForQuery(): void;
}

/**
 * The OID of the type json. The driver parses each value of this type as JSON, so any value keeps its type.
 */
const jsonType = 114;

export function poolThatSendsNothing(rowsOf: (text: string) => readonly unknown[]): Pool {
  const client = () => {
    const texts = new Map<string, string>();
    return {
      release: () => undefined,
      query: (burst: Burst) => {
        const sent: string[] = [];
        burst.submit({
          stream: {
            write: (bytes) => {
              for (const { kind, words } of messagesIn(bytes)) {
                const [first = '', second = ''] = words;
                if (kind === 'P') texts.set(first, second);
                if (kind === 'B') sent.push(texts.get(second) ?? '');
              }
            },
          },
        });
        queueMicrotask(() => {
          for (const text of sent) answer(burst, text, rowsOf(text));
          burst.handleReadyForQuery();
        });
      },
    };
  };
  return { connect: async () => client() } as unknown as Pool;
}

function answer(burst: Burst, text: string, rows: readonly unknown[]): void {
  const names = Object.keys(rows[0] ?? {});
  burst.handleRowDescription({ fields: names.map((name) => ({ name, dataTypeID: jsonType })) });
  for (const row of rows)
    burst.handleDataRow({
      fields: names.map((name) => JSON.stringify((row as Record<string, unknown>)[name] ?? null)),
    });
  burst.handleCommandComplete({ text: text.trim().toUpperCase() });
}

/** Yields the messages of the extended query protocol, each with its first two strings. */
function* messagesIn(bytes: Buffer): Generator<{ kind: string; words: string[] }> {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    const kind = String.fromCharCode(bytes[at] ?? 0);
    yield { kind, words: bytes.toString('utf8', at + 5, end).split('\0', 2) };
    at = end;
  }
}
