/** Maps the columns of a table to fields. */
import { csvColumns, csvFields, csvHead } from '@muster/import-files';
import { Choice } from '../settings/components.tsx';
import { i } from '../messages/imports.ts';
import { textOf } from './reading.ts';

export type Said = Readonly<Record<string, string>>;

/** Returns the names of the table's columns. Throws NoImport. */
export const headOf = (blob: Blob | undefined): Promise<readonly string[]> =>
  csvHead(() => textOf(blob ?? new Blob()));

export function CsvColumns({
  head,
  said,
  onSay,
}: {
  readonly head: readonly string[];
  readonly said: Said;
  readonly onSay: (said: Said) => void;
}) {
  const found = csvColumns(head);
  const columns: Record<string, string> = {
    '': i.noColumn,
    ...Object.fromEntries(head.map((name) => [name, name])),
  };
  return (
    <fieldset className="checks">
      <legend className="label">{i.columns}</legend>
      {csvFields.map((field) => (
        <Choice
          key={field}
          label={i.fields[field]}
          value={said[field] ?? head[found.get(field) ?? -1] ?? ''}
          words={columns}
          onChange={(column) => onSay({ ...said, [field]: column })}
        />
      ))}
    </fieldset>
  );
}
