/** What the states are in HTTP, as LICENSES has it: one table, used by all three paths. */
import { ApiError } from '@muster/service';
import { type ParsedKey } from '../key/key.ts';
import { type ReleaseState } from './statements.ts';

/** How an answer writes that a license never ends. */
const never = '9999-12-31T23:59:59.000Z';

export const expiresAtOf = (ends: string | null): string => ends ?? never;

const forbidden = (reason: string, message: string): ApiError =>
  new ApiError('forbidden', message, { reason, retryable: false });

/** Each state in which the machine is refused; nothing in it tells of the machine that holds the key. */
export const refusals: Readonly<
  Record<Exclude<ReleaseState, 'active' | 'released' | 'unactivated'>, () => ApiError>
> = {
  revoked: () => forbidden('license_revoked', 'This license was revoked.'),
  suspended: () => forbidden('license_suspended', 'This license is suspended.'),
  expired: () => forbidden('license_expired', 'This license has expired.'),
  other_machine: () =>
    new ApiError('conflict', 'This license is active on another machine.', {
      reason: 'active_on_another_machine',
      retryable: false,
    }),
  transfers_exhausted: () =>
    forbidden('transfers_exhausted', 'This license was moved as often as its plan allows; ask the seller.'),
};

export const notActivated = (): ApiError =>
  new ApiError('conflict', 'This license is not active on any machine.', {
    reason: 'not_activated',
    retryable: false,
  });

export const unknownKey = (): ApiError =>
  new ApiError('not_found', 'No license has this key.', { reason: 'unknown_license_key', retryable: false });

/** Says where a typo is and what may belong there, and never what was typed. */
export function invalidKey(parsed: Exclude<ParsedKey, { kind: 'key' }>): ApiError {
  const details = { reason: 'invalid_license_key', retryable: false };
  if (parsed.kind === 'none') return new ApiError('bad_request', 'This is no license key.', details);
  const { position, perhaps } = parsed;
  const message = `This is no license key: character ${position} looks wrong, perhaps ${perhaps}.`;
  return new ApiError('bad_request', message, { ...details, position, perhaps });
}

export const tooManyAttempts = (seconds: number): ApiError =>
  new ApiError(
    'rate_limited',
    'Too many attempts; try again later.',
    { reason: 'too_many_attempts', retryable: true },
    seconds,
  );
