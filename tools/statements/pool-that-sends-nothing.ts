/** A pool whose connections answer each statement with rows that were made up. It reads of the wire which statements were sent. */
import { type Pool } from '@muster/driver';

/** What a burst is told. */
interface Burst {
  submit(connection: { readonly stream: { write(bytes: Buffer): void } }): void;
  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void;
  handleDataRow(message: { fields: string[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleReadyForQuery(): void;
}

/** Of type json each value is read as what it is. */
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

/** The messages of the extended protocol, with the first two words of each. */
function* messagesIn(bytes: Buffer): Generator<{ kind: string; words: string[] }> {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    const kind = String.fromCharCode(bytes[at] ?? 0);
    yield { kind, words: bytes.toString('utf8', at + 5, end).split('\0', 2) };
    at = end;
  }
}
