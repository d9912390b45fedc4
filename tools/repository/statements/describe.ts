/**
 * Asks Postgres to describe a statement without running it. The answer shows whether it fits the schema, and
 * its columns.
 */
import { type ClientBase, type Submittable } from 'pg';
import { serialize } from 'pg-protocol';

export interface Column {
  readonly name: string;
  readonly typeId: number;
  /** The OID of the table that the column belongs to; 0 for a computed column. */
  readonly tableId: number;
  readonly number: number;
}

interface Wire {
  readonly stream: { write(bytes: Buffer): unknown };
}

class Describing implements Submittable {
  readonly #text: string;
  readonly #done: (outcome: Column[] | Error) => void;
  #columns: Column[] = [];

  constructor(text: string, done: (outcome: Column[] | Error) => void) {
    this.#text = text;
    this.#done = done;
  }

  submit(connection: unknown): void {
    const { stream } = connection as Wire;
    stream.write(
      Buffer.concat([
        serialize.parse({ text: this.#text }),
        serialize.describe({ type: 'S', name: '' }),
        serialize.sync(),
      ]),
    );
  }

  handleRowDescription(message: {
    fields: { name: string; dataTypeID: number; tableID: number; columnID: number }[];
  }): void {
    this.#columns = message.fields.map(({ name, dataTypeID, tableID, columnID }) => ({
      ...{ name, typeId: dataTypeID, tableId: tableID, number: columnID },
    }));
  }

  handleError(error: Error): void {
    this.#done(error);
  }

  handleReadyForQuery(): void {
    this.#done(this.#columns);
  }
}

/** Returns the statement's columns, or an error if the statement does not fit the schema. */
export const describeStatement = (client: ClientBase, text: string): Promise<Column[] | Error> =>
  new Promise((resolve) => {
    client.query(new Describing(text, resolve));
  });
