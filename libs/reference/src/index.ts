/** The reference of the API as data, Markdown and examples, generated from the contract alone. */
export { anchorOf } from './anchors.ts';
export { type Flag, type FlagKind, flagName, flagsOf } from './command-line/flags.ts';
export {
  argumentOf,
  commandWords,
  exampleWords,
  positionalsOf,
  quoted,
  wordsOf,
} from './command-line/words.ts';
export { type Field, fieldsOf, parametersOf } from './fields.ts';
export {
  answerOf,
  describe,
  type Example,
  commandLines,
  examplesOf,
  type OperationPage,
  operationsByNamespace,
  type Refusal,
  refusalOf,
  whoMay,
} from './operations.ts';
export { namespaceGroups } from './groups.ts';
export { type JsonFields, paramsIn, schemaIn } from './schemas.ts';
export { namespacePath, type ReferencePage, referencePages } from './pages.ts';
export { datesOf, knownDates, lastModifiedOf, type PageDates } from './last-modified.ts';
