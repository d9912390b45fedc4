export { columnName } from './csv.ts';
export type { Entry, FileItem, ReadOptions } from './draft.ts';
export type { Fitting } from './fit.ts';
export { type CsvField, csvFields } from './formats/csv.ts';
export { type FileFormat, fileFormats, type ImportFile, openFile, type Provider } from './open.ts';
export { NoImport, type Source } from './source.ts';
export { type Columns, type FileStatus, type FindPlace, type Place, placesOf } from './statuses.ts';
export { type LeftOut, type StatusPlace, type Survey, surveyFile } from './survey.ts';
export type { DateOrder } from './times.ts';
