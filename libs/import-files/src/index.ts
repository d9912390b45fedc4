export type { Entry, ReadOptions } from './draft.ts';
export type { Fitting } from './fit.ts';
export { csvColumns, type CsvField, csvFields, csvHead } from './formats/csv.ts';
export { emptyReport, importFile, type ImportInto, importNameOf, type Report } from './put-in.ts';
export { type FileFormat, fileFormats, type ImportFile, openFile, type Provider } from './open.ts';
export { decoded, type Lack, NoImport, type Source } from './source.ts';
export { type Columns, type Place, placesOf } from './statuses.ts';
export { type LeftOut, type NamedPerson, type Survey, surveyFile } from './survey.ts';
export type { DateOrder } from './times.ts';
