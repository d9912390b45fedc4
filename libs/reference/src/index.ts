/** The reference of the API as data, Markdown and examples, generated from the contract alone. */
export { anchorOf } from './anchors.ts';
export { type Flag, type FlagKind, flagName, flagsOf } from './command-line/flags.ts';
export {
  positionalPlaceholder,
  commandWords,
  exampleWords,
  positionalsOf,
  shellQuote,
  toCommandWords,
} from './command-line/words.ts';
export { type ReferenceField, fieldsOf, parametersOf } from './fields.ts';
export {
  exampleAnswerOf,
  toOperationPage,
  type Example,
  wrapCommand,
  examplesOf,
  type OperationPage,
  operationsByNamespace,
  type Refusal,
  refusalOf,
  describeAccess,
} from './operations.ts';
export { namespaceGroups } from './groups.ts';
export { type JsonFields, toParamsSchema, toComponentSchema } from './schemas.ts';
export { namespacePath, type ReferencePage, referencePages } from './pages.ts';
export { updatePageDates, knownDates, lastModifiedOf, type PageDates } from './last-modified.ts';
