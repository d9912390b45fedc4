/** Everything that goes wrong becomes one of these, and these become the contract's error object. */
import { BadCursor, BurstError, DatabaseAway, DatabaseBusy, OutcomeUnknown } from '@muster/driver';
import {
  ApiError,
  badRequest,
  internal,
  notFound,
  nothingAt,
  type OrgRole,
  orgRoles,
  type ProjectRole,
  projectRoles,
  refusal,
  roleTooLow,
  scopeTooSmall,
  unauthorized,
  unavailable,
} from '@muster/registry';

/** Counts what validation let through to Postgres and should not have; tests hold it at 0. */
export const validationHoles = { count: 0 };

/** Why the door says no, as enter.sql words it: of what, the rank that is needed, and what the caller has. */
const refusalOfDoor = /^(organization|project) (\d) (\w+)$/;

/** MU403 with the roles or scopes that the door compared. */
function ofDoor(detail: string | undefined): ApiError {
  const [, of, rank, held] = refusalOfDoor.exec(detail ?? '') ?? [];
  const index = Number(rank) - 1;
  switch (of) {
    case 'organization':
      return roleInPlace(of, orgRoles[index] ?? 'owner', held as OrgRole);
    case 'project':
      return roleInPlace(of, projectRoles[index] ?? 'lead', held as ProjectRole);
    default:
      // The pass of operators is all else that is asked for.
      return scopeTooSmall({
        needed: 'platform',
        held: (detail ?? '').split(' ').filter(Boolean),
      });
  }
}

const roleInPlace = (place: string, needed: OrgRole | ProjectRole, held: OrgRole | ProjectRole): ApiError =>
  roleTooLow({ needed, held }, `Your role in the ${place} is ${held}; this needs ${needed}.`);

function ofSqlState(
  sqlState: string,
  detail: string | undefined,
  target: string | null,
): ApiError | undefined {
  switch (sqlState) {
    case 'MU401':
      return unauthorized();
    case 'MU403':
      return ofDoor(detail);
    case 'MU404':
      return target === null ? notFound() : nothingAt(target);
    // The token was changed again and again meanwhile; asked once more it is what it is then.
    case 'MU409':
    // It is between two servers for longer than a call waits.
    case 'MU421':
      return unavailable('busy');
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
    // A statement is not on this server as its connection knew it: asked once more it is.
    case '0A000':
    case '26000':
      return unavailable('busy');
    // The primary was demoted.
    case '25006':
      return unavailable('database');
    default:
  }
  // Class 53: the disk is full, memory is exhausted, or another limit of the server is reached.
  if (
    sqlState.startsWith('53') ||
    sqlState.startsWith('08') ||
    sqlState.startsWith('57P') ||
    sqlState.startsWith('25P')
  ) {
    return unavailable('database');
  }
  if (/^(22|42|54)/.test(sqlState)) {
    validationHoles.count += 1;
    return badRequest('A value cannot be stored.');
  }
  return undefined;
}

/** The transaction lost against another one; or an upgrade changed a statement that its connection knew, and forgets by this error. */
const passing = new Set(['40001', '40P01', '0A000', '26000']);

/** Whether the transaction can simply run again. */
export const mayRunAgain = (error: unknown): boolean =>
  error instanceof BurstError && error.sqlState !== undefined && passing.has(error.sqlState);

const doubtsOfDoor = new Set(['MU401', 'MU409']);

/** Whether the door found the token over, or that it reaches another part now than its identity says, which is of before. */
export const isIdentityOld = (error: unknown): boolean =>
  error instanceof BurstError && error.sqlState !== undefined && doubtsOfDoor.has(error.sqlState);

/**
 * Any error → what the caller is told. A fault of ours tells nothing of the inside. `target` is the parameter that names
 * the record by which the call was let in.
 */
export function toApiError(error: unknown, target: string | null = null): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof OutcomeUnknown) return unavailable('outcome_unknown');
  if (error instanceof DatabaseBusy)
    return unavailable('overload', 'All connections to the database are taken; try again.');
  if (error instanceof DatabaseAway) return unavailable('database');
  if (error instanceof BadCursor) {
    return badRequest('The cursor is not one of this list.', [{ path: error.param, message: error.message }]);
  }
  if (error instanceof BurstError) {
    const known =
      error.sqlState === undefined
        ? unavailable('database', 'The connection to the database was lost; try again.')
        : ofSqlState(error.sqlState, error.detail, target);
    if (known !== undefined) return known;
  }
  return internal();
}
