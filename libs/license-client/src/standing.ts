/** The result for a machine: the program may run on it, or the reason why it may not. */
import { type Entitlements } from './features.ts';

const serviceReasons = [
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
 * The reasons of the service, `refused` for a reason that this client does not know, and reasons that the
 * client itself finds.
 * The client's own reasons are: nothing was activated, no server answers, or another server answers. The
 * certificate may be expired, invalid, or of another machine. The clock may have been turned back, a
 * carried answer may belong to no request of this machine, or a release would lose usage.
 */
export type Reason =
  | (typeof serviceReasons)[number]
  | 'refused'
  | 'no_license'
  | 'unreachable'
  | 'untrusted'
  | 'certificate_ended'
  | 'certificate_of_another_machine'
  | 'certificate_not_genuine'
  | 'clock_turned_back'
  | 'answer_of_another_request'
  | 'unsent_usage';

/** A decision that the program may run. */
export interface Allowed extends Entitlements {
  readonly mayRun: true;
  /** The source of the decision: a fresh answer of the service, or a stored certificate. */
  readonly by: 'service' | 'certificate';
  readonly plan: string;
  /** True for a trial, which runs for some days without a key. */
  readonly isTrial: boolean;
  /** The end of the license. Null if the service did not report an end. */
  readonly expiresAt: string | null;
  /** The time until which the program may run without the service. Null if the program may not run without it. */
  readonly offlineUntil: string | null;
  /**
   * The seconds that remain until `offlineUntil` by the service's clock. Programs should use them, because
   * the machine's own clock may be wrong.
   */
  readonly offlineSeconds: number | null;
}

/** A decision that the program may not run. */
export interface LicenseRefusal {
  readonly mayRun: false;
  readonly reason: Reason;
  /**
   * True if repeating the call would give the same result: the service has decided, or there is no license to
   * check.
   */
  readonly isFinal: boolean;
  /** The message for people, in English. */
  readonly message: string;
  /** The delay that the service requested, if any. */
  readonly retryAfterSeconds: number | null;
}

export type Standing = Allowed | LicenseRefusal;

const reasonMessages: Readonly<Record<Reason, string>> = {
  invalid_license_key: 'Not a valid license key.',
  unknown_license_key: 'No license has this key.',
  not_activated: 'This license is not active on this machine.',
  active_on_another_machine: 'This license is active on another machine.',
  slots_taken: 'All slots of this license are in use on other machines.',
  license_expired: 'This license has expired.',
  license_suspended: 'This license is suspended.',
  license_revoked: 'This license was revoked.',
  transfers_exhausted: 'This license has reached the number of machine changes that its plan allows.',
  trial_ended: 'The trial on this machine has ended.',
  trial_converted: 'The trial ended when a license key was activated on this machine.',
  no_trials: 'This product has no trial.',
  refused: 'The license service refused the request.',
  no_license: 'No license was activated on this machine.',
  unreachable: 'The license service does not answer.',
  untrusted: 'The server that answered is not the license service.',
  certificate_ended: 'The license service does not answer, and the offline period has ended.',
  certificate_of_another_machine: 'The stored license belongs to another machine.',
  certificate_not_genuine: 'The stored license is not genuine.',
  clock_turned_back: 'The clock of this machine was turned back.',
  answer_of_another_request: 'The response does not belong to a request of this machine, or it is outdated.',
  unsent_usage: 'Usage of this license could not be counted yet. Try again later.',
};

export const createRefusal = (
  reason: Reason,
  {
    isFinal = false,
    message = reasonMessages[reason],
    retryAfterSeconds = null,
  }: Partial<LicenseRefusal> = {},
): LicenseRefusal => ({ mayRun: false, reason, isFinal, message, retryAfterSeconds });

/** Converts a word of the service to one of its reasons. */
export const toReason = (serviceReason: unknown): Reason =>
  serviceReasons.find((one) => one === serviceReason) ?? 'refused';

/** The result of releasing the license. */
export type Release =
  | {
      readonly isReleased: true;
      /** The number of times that the license may still be moved. */
      readonly transfersLeft: number | null;
    }
  | (Omit<LicenseRefusal, 'mayRun'> & { readonly isReleased: false });
