/** Maps errors of operators' operations to HTTP answers. */
import { DatabaseAway, DatabaseBusy } from '@muster/driver';
import { ApiError, badRequest, forbidden, malformed, notFound, refusal, unavailable } from '@muster/http';
import { outageOf } from '../operators/outage.ts';
import { Refused } from '../operators/transaction.ts';

const answers: Readonly<Record<string, (message: string) => ApiError>> = {
  not_found: (message) => notFound(sentence(message)),
  free_slot: (message) => notFound(sentence(message)),
  invalid_license_key: (message) => malformed('invalid_license_key', sentence(message)),
  revoked: (message) => forbidden('license_revoked', sentence(message)),
  transfers_exhausted: () => forbidden('transfers_exhausted'),
  not_activated: () => refusal('not_activated'),
  order_mismatch: (message) => refusal('order_mismatch', { issued: message }),
  several_machines: () => refusal('several_machines'),
  link_over: (message) => notFound(sentence(message)),
  no_database: () => unavailable('database'),
  outcome_unknown: () => unavailable('outcome_unknown'),
};

const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

/** Returns the API error of an expected error; undefined for a fault of the service. */
export function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof Refused)
    return answers[error.reason]?.(error.message) ?? badRequest(sentence(error.message));
  if (error instanceof DatabaseBusy) return unavailable('busy');
  if (error instanceof DatabaseAway || outageOf(error) !== undefined) return unavailable('database');
  return undefined;
}
