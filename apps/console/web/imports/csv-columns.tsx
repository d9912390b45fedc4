/** Maps the columns of a table to fields. */
import { csvColumns, csvFields, csvHead } from '@muster/import-files';
import { SelectField } from '../settings/components.tsx';
import { importTexts } from '../messages/imports.ts';
import { textOf } from './reading.ts';

export type ChosenFields = Readonly<Record<string, string>>;

/** Returns the names of the table's columns. Throws NoImport. */
export const headOf = (blob: Blob | undefined): Promise<readonly string[]> =>
  csvHead(() => textOf(blob ?? new Blob()));

export function CsvColumns({
  head,
  said,
  onSay,
}: {
  readonly head: readonly string[];
  readonly said: ChosenFields;
  readonly onSay: (said: ChosenFields) => void;
}) {
  const found = csvColumns(head);
  const columns: Record<string, string> = {
    '': importTexts.noColumn,
    ...Object.fromEntries(head.map((name) => [name, name])),
  };
  return (
    <fieldset className="checks">
      <legend className="label">{importTexts.columns}</legend>
      {csvFields.map((field) => (
        <SelectField
          key={field}
          label={importTexts.fields[field]}
          value={said[field] ?? head[found.get(field) ?? -1] ?? ''}
          words={columns}
          onChange={(column) => onSay({ ...said, [field]: column })}
        />
      ))}
    </fieldset>
  );
}
