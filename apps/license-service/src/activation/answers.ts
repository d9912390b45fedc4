/** What the states are in HTTP, as LICENSES has it: one table, used by all three paths. */
import { type ApiError, forbidden, malformed, missing, refusal, tooMany } from '@muster/http';
import { type ParsedKey } from '../key/key.ts';
import { type Granted, type ReleaseState } from './statements.ts';

/** How an answer writes that a license never ends. */
const never = '9999-12-31T23:59:59.000Z';

export const expiresAtOf = (ends: string | null): string => ends ?? never;

/** Each state in which the machine is refused; nothing in it tells of the machine that holds the key. */
export const refusals: Readonly<
  Record<Exclude<ReleaseState, 'active' | 'released' | 'unactivated'>, () => ApiError>
> = {
  revoked: () => forbidden('license_revoked'),
  suspended: () => forbidden('license_suspended'),
  expired: () => forbidden('license_expired'),
  other_machine: () => refusal('active_on_another_machine'),
  transfers_exhausted: () => forbidden('transfers_exhausted'),
};

/** Why an activation gave nothing; undefined where it gave the machine the license. */
export function refusedWith({
  state,
  leaseSeconds,
}: Pick<Granted, 'state' | 'leaseSeconds'>): ApiError | undefined {
  if (state === 'active' || state === 'unactivated') return undefined;
  // Of slots that are lent: one will be free again, and to ask is no guess.
  return state === 'other_machine' && leaseSeconds !== null ? refusal('slots_taken') : refusals[state]();
}

export const notActivated = (): ApiError => refusal('not_activated');

export const unknownKey = (): ApiError => missing('unknown_license_key');

/** Says where a typo is and what may belong there, and never what was typed. */
export function invalidKey(parsed: Exclude<ParsedKey, { kind: 'key' }>): ApiError {
  if (parsed.kind === 'none') return malformed('invalid_license_key');
  const { position, typedPosition, perhaps } = parsed;
  const message = `This is no license key: character ${typedPosition} looks wrong, perhaps ${perhaps}.`;
  return malformed('invalid_license_key', message, { position, perhaps });
}

export const tooManyAttempts = (seconds: number): ApiError => tooMany('too_many_attempts', seconds);
