/** How a machine stands: whether the program may run on it, and else why not. */
import { type Entitled } from './features.ts';

const reasonsOfService = [
  'invalid_license_key',
  'unknown_license_key',
  'not_activated',
  'active_on_another_machine',
  'slots_taken',
  'license_expired',
  'license_suspended',
  'license_revoked',
  'transfers_exhausted',
  'trial_ended',
  'trial_converted',
  'no_trials',
] as const;

/**
 * The service's own reasons; `refused` for one that this client does not know yet. And those found here: nothing was
 * activated, no server answers, another server answers, the certificate has ended or is of another machine or of none,
 * the clock was turned back, an answer that was carried here is to no request of this machine.
 */
export type Reason =
  | (typeof reasonsOfService)[number]
  | 'refused'
  | 'no_license'
  | 'unreachable'
  | 'untrusted'
  | 'certificate_ended'
  | 'certificate_of_another_machine'
  | 'certificate_not_genuine'
  | 'clock_turned_back'
  | 'answer_of_another_request';

/** The program may run. */
export interface Allowed extends Entitled {
  readonly mayRun: true;
  /** Who says so: the service a moment ago, or the certificate that it gave before. */
  readonly by: 'service' | 'certificate';
  readonly plan: string;
  /** Without a key, for some days. */
  readonly isTrial: boolean;
  /** The license's end, where the service said it. */
  readonly expiresAt: string | null;
  /** Until when it may run without the service; null where it may not. */
  readonly offlineUntil: string | null;
  /** How long that is from now, by the service's time: the machine's own clock may be off. */
  readonly offlineSeconds: number | null;
}

/** The program may not run. */
export interface Refused {
  readonly mayRun: false;
  readonly reason: Reason;
  /** The service has decided, or nothing is there to ask about: the same question again gets the same answer. */
  readonly isFinal: boolean;
  /** For people; in English. */
  readonly message: string;
  /** When to come back, where the service said it. */
  readonly retryAfterSeconds: number | null;
}

export type Standing = Allowed | Refused;

const messages: Readonly<Record<Reason, string>> = {
  invalid_license_key: 'This is no license key.',
  unknown_license_key: 'No license has this key.',
  not_activated: 'This license is not active on this machine.',
  active_on_another_machine: 'This license is active on another machine.',
  slots_taken: 'Other machines hold every slot of this license at the moment.',
  license_expired: 'This license has expired.',
  license_suspended: 'This license is suspended.',
  license_revoked: 'This license was revoked.',
  transfers_exhausted: 'This license was moved as often as its plan allows.',
  trial_ended: 'The trial on this machine has ended.',
  trial_converted: 'A key was activated on this machine, so its trial is over.',
  no_trials: 'This product cannot be tried without a key.',
  refused: 'The license service refused.',
  no_license: 'No license was activated here.',
  unreachable: 'The license service does not answer.',
  untrusted: 'What answers is not the license service.',
  certificate_ended: 'The license service does not answer, and the time without it is over.',
  certificate_of_another_machine: 'The license that is kept here is of another machine.',
  certificate_not_genuine: 'The license that is kept here is not genuine.',
  clock_turned_back: 'The clock of this machine was turned back.',
  answer_of_another_request: 'This answer is to no request of this machine, or to an older one.',
};

export const refusal = (
  reason: Reason,
  { isFinal = false, message = messages[reason], retryAfterSeconds = null }: Partial<Refused> = {},
): Refused => ({ mayRun: false, reason, isFinal, message, retryAfterSeconds });

/** A word of the service's as one of its reasons. */
export const reasonOf = (word: unknown): Reason => reasonsOfService.find((one) => one === word) ?? 'refused';

/** What comes of giving a license back. */
export type Release =
  | {
      readonly isReleased: true;
      /** How often the license may still be moved. */
      readonly transfersLeft: number | null;
    }
  | (Omit<Refused, 'mayRun'> & { readonly isReleased: false });
