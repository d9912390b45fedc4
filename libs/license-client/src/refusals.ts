/** Translates the service's answers into results for the program. */
import { type ServiceReply, type NotHeard } from './asking.ts';
import { type Reason, reasonOf, refusal, type Refused } from './standing.ts';

export const notHeard = ({ kind, retryAfterSeconds }: NotHeard): Refused =>
  refusal(kind, { retryAfterSeconds });

/** Returns a refusal with the service's own message, which may also locate a typo. */
export function refusalIn({ body }: ServiceReply): Refused {
  const { details, message } = body;
  const { reason, retryable } = (details ?? {}) as { reason?: unknown; retryable?: unknown };
  return refusal(reasonOf(reason), {
    isFinal: retryable !== true,
    ...(typeof message === 'string' && { message }),
  });
}

const reasonOfState: Readonly<Record<string, Reason>> = {
  unactivated: 'not_activated',
  other_machine: 'active_on_another_machine',
  expired: 'license_expired',
  suspended: 'license_suspended',
  revoked: 'license_revoked',
};

/** Returns the refusal of a check. The signature covers the refusal; its reason is in an unsigned header. */
export const refusalOfCheck = ({ header }: ServiceReply): Refused =>
  refusal(reasonOfState[header('license-state') ?? ''] ?? 'refused', { isFinal: true });

export const textIn = (body: object, name: string): string | null => {
  const value: unknown = Object.entries(body).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? value : null;
};
