/** Maps errors of operators' operations to HTTP answers. */
import { DatabaseAway, DatabaseBusy } from '@muster/driver';
import {
  ApiError,
  badRequest,
  forbidden,
  malformedRequest,
  notFound,
  refusal,
  serviceUnavailable,
} from '@muster/http';
import { outageOf } from '../operators/outage.ts';
import { RefusedError } from '../operators/transaction.ts';

const errorsByReason: Readonly<Record<string, (message: string) => ApiError>> = {
  not_found: (message) => notFound(toSentence(message)),
  free_slot: (message) => notFound(toSentence(message)),
  invalid_license_key: (message) => malformedRequest('invalid_license_key', toSentence(message)),
  revoked: (message) => forbidden('license_revoked', toSentence(message)),
  transfers_exhausted: () => forbidden('transfers_exhausted'),
  not_activated: () => refusal('not_activated'),
  order_mismatch: (message) => refusal('order_mismatch', { issued: message }),
  several_machines: () => refusal('several_machines'),
  unknown_release: (message) => notFound(toSentence(message)),
  version_exists: () => refusal('already_exists'),
  link_over: (message) => notFound(toSentence(message)),
  no_database: () => serviceUnavailable('database'),
  outcome_unknown: () => serviceUnavailable('outcome_unknown'),
};

const toSentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

/** Returns the API error of an expected error; undefined for a fault of the service. */
export function apiErrorOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof RefusedError)
    return errorsByReason[error.reason]?.(error.message) ?? badRequest(toSentence(error.message));
  if (error instanceof DatabaseBusy) return serviceUnavailable('busy');
  if (error instanceof DatabaseAway || outageOf(error) !== undefined) return serviceUnavailable('database');
  return undefined;
}
