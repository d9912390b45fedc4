/** Maps every failure to the error object of the contract. */
import { BadCursor, BurstError, DatabaseAway, DatabaseBusy, CommitOutcomeUnknown } from '@muster/driver';
import {
  ApiError,
  badRequest,
  internalError,
  notFound,
  pathNotFound,
  type OrgRole,
  orgRoles,
  type ProjectRole,
  projectRoles,
  refusal,
  roleTooLow,
  scopeTooSmall,
  unauthorized,
  serviceUnavailable,
} from '@muster/contract';

/** The number of invalid values that validation let through to Postgres. Tests require it to stay 0. */
export const valuesMissedByValidation = { count: 0 };

/**
 * The detail of a refused authorization check, as enter.sql formats it: the scope of the role, the required
 * rank, and the caller's role.
 */
const accessRefusalPattern = /^(organization|project) (\d) (\w+)$/;

/** Builds the error for MU403 with the roles or scopes that the authorization check compared. */
function accessErrorFrom(detail: string | undefined): ApiError {
  const [, of, rank, held] = accessRefusalPattern.exec(detail ?? '') ?? [];
  const index = Number(rank) - 1;
  switch (of) {
    case 'organization':
      return roleTooLowError(of, orgRoles[index] ?? 'owner', held as OrgRole);
    case 'project':
      return roleTooLowError(of, projectRoles[index] ?? 'lead', held as ProjectRole);
    default:
      // Apart from missing roles, the authorization check raises this error only for a missing scope
      // `platform`.
      return scopeTooSmall({
        needed: 'platform',
        held: (detail ?? '').split(' ').filter(Boolean),
      });
  }
}

const roleTooLowError = (
  scope: string,
  needed: OrgRole | ProjectRole,
  held: OrgRole | ProjectRole,
): ApiError =>
  roleTooLow(
    { needed, held },
    `Your role in the ${scope} is ${held}; this operation needs the role ${needed}.`,
  );

function errorForSqlState(
  sqlState: string,
  detail: string | undefined,
  target: string | null,
): ApiError | undefined {
  switch (sqlState) {
    case 'MU401':
      return unauthorized();
    case 'MU403':
      return accessErrorFrom(detail);
    case 'MU404':
      return target === null ? notFound() : pathNotFound(target);
    // The token changed repeatedly during the call; a new attempt sees its current state.
    case 'MU409':
    // The organization has been moving between two servers for longer than a call waits.
    case 'MU421':
      return serviceUnavailable('busy');
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
    // The connection's prepared statement is outdated or unknown on this server; the next attempt prepares it
    // again.
    case '0A000':
    case '26000':
      return serviceUnavailable('busy');
    // The primary was demoted.
    case '25006':
      return serviceUnavailable('database');
    default:
  }
  // Class 53: the disk is full, memory is exhausted, or another limit of the server is reached.
  if (
    sqlState.startsWith('53') ||
    sqlState.startsWith('08') ||
    sqlState.startsWith('57P') ||
    sqlState.startsWith('25P')
  )
    return serviceUnavailable('database');
  if (/^(22|42|54)/.test(sqlState)) {
    valuesMissedByValidation.count += 1;
    return badRequest('A number or text in the call is outside the range that the database can store.');
  }
  return undefined;
}

/**
 * The SQLSTATEs of transient failures. The transaction lost against another one, or an upgrade invalidated a
 * prepared statement, which the connection drops on this error.
 */
const transientSqlStates = new Set(['40001', '40P01', '0A000', '26000']);

/** True if the transaction can simply run again. */
export const isTransientFailure = (error: unknown): boolean =>
  error instanceof BurstError && error.sqlState !== undefined && transientSqlStates.has(error.sqlState);

const staleIdentitySqlStates = new Set(['MU401', 'MU409']);

/**
 * True if the authorization check found that the token has ended, or that its access differs from the cached
 * identity.
 */
export const isIdentityStale = (error: unknown): boolean =>
  error instanceof BurstError && error.sqlState !== undefined && staleIdentitySqlStates.has(error.sqlState);

/**
 * Converts any error to the error for the caller. An internal fault reveals no details. `target` is the
 * parameter that names the record by which the call was authorized.
 */
export function toApiError(error: unknown, targetParam: string | null = null): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof CommitOutcomeUnknown) return serviceUnavailable('outcome_unknown');
  if (error instanceof DatabaseBusy)
    return serviceUnavailable('overload', 'All database connections are in use; try again.');
  if (error instanceof DatabaseAway) return serviceUnavailable('database');
  if (error instanceof BadCursor)
    return badRequest('The cursor does not belong to this list.', [
      { path: error.param, message: error.message },
    ]);
  if (error instanceof BurstError) {
    const known =
      error.sqlState === undefined
        ? serviceUnavailable('database', 'The connection to the database was lost; try again.')
        : errorForSqlState(error.sqlState, error.detail, targetParam);
    if (known !== undefined) return known;
  }
  return internalError();
}
