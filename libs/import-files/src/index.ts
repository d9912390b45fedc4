export type { ImportEntry, ReadOptions } from './draft.ts';
export type { ConversionOptions } from './fit.ts';
export { findCsvColumns, type CsvField, csvFields, readCsvHeader } from './formats/csv.ts';
export {
  createEmptyReport,
  importFile,
  type ImportTarget,
  buildImportName,
  type ImportReport,
} from './put-in.ts';
export { type FileFormat, fileFormats, type ImportFile, openFile, type ImportedProvider } from './open.ts';
export { recognizeFormat } from './recognize.ts';
export { decodeText, type MissingInformation, UnreadableFileError, type TextSource } from './source.ts';
export { type TargetColumns, type StatusTarget, createStatusMapper } from './statuses.ts';
export { type UnimportedPart, type NamedPerson, type Survey, surveyFile } from './survey.ts';
export type { DateOrder } from './times.ts';
