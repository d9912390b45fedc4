/** Translates the service's answers into results for the program. */
import { type ServiceReply, type NoReply } from './asking.ts';
import { type Reason, toReason, createRefusal, type LicenseRefusal } from './standing.ts';

export const refusalOfNoReply = ({ kind, retryAfterSeconds }: NoReply): LicenseRefusal =>
  createRefusal(kind, { retryAfterSeconds });

/** Returns a refusal with the service's own message, which may also locate a typo. */
export function refusalOfReply({ body }: ServiceReply): LicenseRefusal {
  const { details, message } = body;
  const { reason, retryable } = (details ?? {}) as { reason?: unknown; retryable?: unknown };
  return createRefusal(toReason(reason), {
    isFinal: retryable !== true,
    ...(typeof message === 'string' && { message }),
  });
}

const reasonsByState: Readonly<Record<string, Reason>> = {
  unactivated: 'not_activated',
  other_machine: 'active_on_another_machine',
  expired: 'license_expired',
  suspended: 'license_suspended',
  revoked: 'license_revoked',
};

/** Returns the refusal of a check. The signature covers the refusal; its reason is in an unsigned header. */
export const refusalOfCheck = ({ header }: ServiceReply): LicenseRefusal =>
  createRefusal(reasonsByState[header('license-state') ?? ''] ?? 'refused', { isFinal: true });

export const stringFieldOf = (body: object, name: string): string | null => {
  const value: unknown = Object.entries(body).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? value : null;
};

/** Returns a refusal as the answer to a question. */
export const toUnknown = ({ mayRun: _, ...why }: LicenseRefusal) => ({ ...why, isKnown: false as const });
