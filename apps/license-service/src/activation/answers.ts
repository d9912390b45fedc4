/** Maps the states of a license to HTTP answers. All three activation paths use this table. */
import {
  type ApiError,
  forbidden,
  malformedRequest,
  notFoundWithReason,
  refusal,
  tooManyRequests,
} from '@muster/http';
import { type ParsedKey } from '../key/key.ts';
import { type GrantedActivation, type ReleaseState } from './statements.ts';

/** The `expiresAt` of a license that never ends. */
const perpetualExpiresAt = '9999-12-31T23:59:59.000Z';

export const expiresAtOf = (endsAt: string | null): string => endsAt ?? perpetualExpiresAt;

/** The refusal of each state that denies a machine. It reveals nothing about the machine that holds the key. */
export const refusalsByState: Readonly<
  Record<Exclude<ReleaseState, 'active' | 'released' | 'unactivated'>, () => ApiError>
> = {
  revoked: () => forbidden('license_revoked'),
  suspended: () => forbidden('license_suspended'),
  expired: () => forbidden('license_expired'),
  other_machine: () => refusal('active_on_another_machine'),
  transfers_exhausted: () => forbidden('transfers_exhausted'),
};

/** Returns the refusal of an activation; undefined if the machine got the license. */
export function activationRefusal({
  state,
  leaseSeconds,
}: Pick<GrantedActivation, 'state' | 'leaseSeconds'>): ApiError | undefined {
  if (state === 'active' || state === 'unactivated') return undefined;
  // A leased slot becomes free again, so a machine that was refused may succeed later. Its repeated requests are
  // therefore not counted as guesses of the key.
  return state === 'other_machine' && leaseSeconds !== null
    ? refusal('slots_taken')
    : refusalsByState[state]();
}

export const notActivatedError = (): ApiError => refusal('not_activated');

export const unknownKeyError = (): ApiError => notFoundWithReason('unknown_license_key');

/** Makes the refusal of an invalid key. It names the place of a typo and a likely correction, never the typed text. */
export function invalidKeyError(parsed: Exclude<ParsedKey, { kind: 'key' }>): ApiError {
  if (parsed.kind === 'none') return malformedRequest('invalid_license_key');
  const { position, typedPosition, perhaps: perhaps } = parsed;
  const message = `Not a valid license key: character ${typedPosition} looks wrong, perhaps it is ${perhaps}.`;
  return malformedRequest('invalid_license_key', message, { position, perhaps });
}

export const tooManyAttemptsError = (retryAfterSeconds: number): ApiError =>
  tooManyRequests('too_many_attempts', retryAfterSeconds);
