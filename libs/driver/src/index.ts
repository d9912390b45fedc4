export { queryOutsideOrg } from './ask.ts';
export { BurstError, sendBurst, type StatementResult } from './burst.ts';
export { newId } from './id.ts';
export {
  BadCursor,
  CursorCount,
  CursorId,
  CursorSeq,
  CursorText,
  CursorTime,
  decodeCursor,
  encodeCursor,
  maxSearchedRows,
  type Page,
  pageOfRows,
  pageOfSearchRows,
  searchPageSql,
  makeShortenable,
  shortenPage,
  limitToPageBytes,
} from './keyset.ts';
export {
  checkOutConnection,
  cliConnectTimeoutMillis,
  classifyConnectionError,
  createPool,
  DatabaseAway,
  DatabaseBusy,
  type Pool,
  type PoolConfig,
} from './pool.ts';
export { splitIntoPortions, estimateBytes } from './portions.ts';
export {
  type IdOrSql,
  withNextVersion,
  defineRecord,
  requireVersion,
  type RowOf,
  defineView,
} from './record.ts';
export { type DB } from './schema.generated.ts';
export { sendRead, sendShortWrite } from './shared-reads.ts';
export {
  bindStatement,
  boundStatements,
  orgFilter,
  currentOrgId,
  Part,
  type Query,
  sql,
  type Statement,
} from './sql.ts';
export { inTransactionSpan, traceStatements } from './trace.ts';
export {
  type Db,
  inTransaction,
  mayHaveCommitted,
  CommitOutcomeUnknown,
  type PlainDb,
  type DbForOrg,
} from './transaction.ts';
