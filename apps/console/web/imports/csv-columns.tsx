/** Maps the columns of a table to fields. */
import { findCsvColumns, csvFields, readCsvHeader } from '@muster/import-files';
import { SelectField } from '../settings/components.tsx';
import { importTexts } from '../messages/imports.ts';
import { readText } from './reading.ts';

export type ChosenValues = Readonly<Record<string, string>>;

/** Returns the names of the table's columns. Throws UnreadableFileError. */
export const readHeaderOfFile = (blob: Blob | undefined): Promise<readonly string[]> =>
  readCsvHeader(() => readText(blob ?? new Blob()));

interface CsvColumnMappingProps {
  readonly header: readonly string[];
  readonly chosenColumns: ChosenValues;
  readonly onColumnsChange: (said: ChosenValues) => void;
}

export function CsvColumnMapping({ header, chosenColumns, onColumnsChange }: CsvColumnMappingProps) {
  const found = findCsvColumns(header);
  const columns: Record<string, string> = {
    '': importTexts.noColumn,
    ...Object.fromEntries(header.map((name) => [name, name])),
  };
  return (
    <fieldset className="checks">
      <legend className="label">{importTexts.columns}</legend>
      {csvFields.map((field) => (
        <SelectField
          key={field}
          label={importTexts.fields[field]}
          value={chosenColumns[field] ?? header[found.get(field) ?? -1] ?? ''}
          optionLabels={columns}
          onChange={(column) => onColumnsChange({ ...chosenColumns, [field]: column })}
        />
      ))}
    </fieldset>
  );
}
