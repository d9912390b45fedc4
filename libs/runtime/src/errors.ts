/** Everything that goes wrong becomes one of these, and these become the contract's error object. */
import { BadCursor, BurstError, DatabaseAway, OutcomeUnknown } from '@muster/database';
import {
  ApiError,
  badRequest,
  forbidden,
  notFound,
  refusal,
  unauthorized,
  unavailable,
} from '@muster/registry';

/** Counts what validation let through to Postgres and should not have; tests hold it at 0. */
export const validationHoles = { count: 0 };

function ofSqlState(sqlState: string): ApiError | undefined {
  switch (sqlState) {
    case 'MU401':
      return unauthorized();
    case 'MU403':
      return forbidden('role', 'Your role does not allow this.');
    case 'MU404':
      return notFound();
    case '23505':
      return refusal('already_exists');
    case '23503':
      return notFound();
    case '23514':
      return refusal('limit_exceeded');
    case '55P03':
    case '40001':
    case '40P01':
    case '57014':
    case '53300':
      return unavailable('busy', 'The database is busy; try again.');
    default:
  }
  if (sqlState.startsWith('08') || sqlState.startsWith('57P') || sqlState.startsWith('25P')) {
    return unavailable('database', 'The database is away; try again.');
  }
  if (/^(22|42|54)/.test(sqlState)) {
    validationHoles.count += 1;
    return new ApiError('bad_request', 'A value cannot be stored.', {
      reason: 'invalid_params',
      retryable: false,
    });
  }
  return undefined;
}

/** Whether the transaction lost against another one and can simply run again. */
export const isSerializationLoss = (error: unknown): boolean =>
  error instanceof BurstError && (error.sqlState === '40001' || error.sqlState === '40P01');

/** Any error → what the caller is told. A fault of ours tells nothing of the inside. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof OutcomeUnknown) {
    return unavailable(
      'outcome_unknown',
      'The connection was lost while committing; repeat with the same Idempotency-Key.',
    );
  }
  if (error instanceof DatabaseAway) return unavailable('database', 'The database is away; try again.');
  if (error instanceof BadCursor) {
    return badRequest('The cursor is not one of this list.', [{ path: 'cursor', message: error.message }]);
  }
  if (error instanceof BurstError) {
    const known =
      error.sqlState === undefined
        ? unavailable('database', 'The connection to the database was lost; try again.')
        : ofSqlState(error.sqlState);
    if (known !== undefined) return known;
  }
  return new ApiError('internal', 'Something went wrong on our side.');
}
