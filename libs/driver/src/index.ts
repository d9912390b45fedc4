export { ask } from './ask.ts';
export { BurstError, sendBurst, type Statement, type StatementResult } from './burst.ts';
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
  mostLookedAt,
  type Page,
  pageOfRows,
  pageOfSearch,
  searched,
  shortenable,
  shortened,
  withinPage,
} from './keyset.ts';
export {
  checkOut,
  commandConnectMillis,
  connectionFault,
  createPool,
  DatabaseAway,
  DatabaseBusy,
  type Pool,
  type PoolConfig,
} from './pool.ts';
export { portionsOf, sizeOf } from './portions.ts';
export { type Id, nextVersion, record, requireVersion, type RowOf, view } from './record.ts';
export { type DB } from './schema.generated.ts';
export { sendRead, sendShortWrite } from './shared-reads.ts';
export { bind, boundStatements, of, organization, Part, type Query, sql } from './sql.ts';
export { inTransactionSpan, traceStatements } from './trace.ts';
export {
  type Db,
  inTransaction,
  mayHaveCommitted,
  OutcomeUnknown,
  type PlainDb,
  type Within,
} from './transaction.ts';
