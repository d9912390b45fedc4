/**
 * Rate limits per token and per organization. Lease renewals have a separate limit per token. A caller that
 * exceeds the limit for other calls can therefore still renew its leases, and many renewals do not use up the
 * limits of colleagues.
 */
import { tooManyRequests } from '@muster/contract';
import {
  createRateLimiter,
  type Cost,
  type Quota,
  rateLimitField,
  type Limit,
  rateLimitPolicyField,
  type Rate,
  type RateLimiter,
  retryAfterSeconds,
} from '@muster/http';
import { type TokenIdentity } from '@muster/tenancy';
import { type FastifyReply } from 'fastify';
import { type Logger } from 'pino';

export interface CallLimits {
  /**
   * Counts a call. Throws 429 above the limit. It waits for Redis only near the limit, and only for a short
   * time.
   */
  admit(caller: TokenIdentity, reply: FastifyReply, isRenewal: boolean): Promise<void> | undefined;
  /** The limiter behind these limits, for other kinds of calls. */
  readonly rateLimiter: RateLimiter;
  close(): Promise<void>;
}

interface CallLimitOptions {
  readonly limitPerToken: Rate;
  readonly limitPerOrganization: Rate;
  /** Redis, in which all processes count together; without it, each process counts separately. */
  readonly redisUrl: string | undefined;
  readonly timeoutMillis: number;
  readonly logger: Logger;
}

/**
 * The hash tag puts all keys of an organization into one cluster slot, because one script call must not use
 * keys of several slots.
 */
const keyPrefixOf = (orgId: string): string => `{calls:${orgId}}`;

/** A rate limit. Its name is part of the refusal's reason. */
type CallLimit = Limit & { readonly name: 'token' | 'organization' | 'renewal' };

/** Limits that apply together, and the header that describes them in every response. */
interface LimitGroup {
  readonly limits: readonly CallLimit[];
  readonly policyHeader: string;
  readonly keysOf: (caller: TokenIdentity) => readonly string[];
}

const createLimitGroup = (limits: readonly CallLimit[], keysOf: LimitGroup['keysOf']): LimitGroup => ({
  limits,
  policyHeader: rateLimitPolicyField(limits),
  keysOf,
});

export function createCallLimits(options: CallLimitOptions): CallLimits {
  const { limitPerToken, limitPerOrganization, redisUrl, timeoutMillis, logger } = options;
  const rateLimiter = createRateLimiter(
    redisUrl === undefined
      ? undefined
      : {
          ...{ redisUrl, timeoutMillis },
          onRedisAvailability: (isAway, error) => {
            if (isAway)
              logger.warn({ err: error }, 'Redis is unavailable; this process counts calls by itself');
            else logger.info('Redis is available again');
          },
        },
  );
  const calls = createLimitGroup(
    [
      { name: 'token', rate: limitPerToken },
      { name: 'organization', rate: limitPerOrganization },
    ],
    ({ tokenId, orgId }) => [`${keyPrefixOf(orgId)}:token:${tokenId}`, `${keyPrefixOf(orgId)}:organization`],
  );
  const renewals = createLimitGroup([{ name: 'renewal', rate: limitPerToken }], ({ tokenId, orgId }) => [
    `${keyPrefixOf(orgId)}:renewal:${tokenId}`,
  ]);

  const applyQuotas = (
    { limits, policyHeader }: LimitGroup,
    quotas: readonly Quota[],
    reply: FastifyReply,
  ): void => {
    reply.header('ratelimit-policy', policyHeader).header('ratelimit', rateLimitField(limits, quotas));
    const empty = limits.find((_, index) => (quotas[index]?.waitMillis ?? 0) > 0);
    if (empty !== undefined) throw tooManyRequests(`${empty.name}_limit`, retryAfterSeconds(quotas));
  };

  return {
    admit: (caller, reply, isRenewal) => {
      const group = isRenewal ? renewals : calls;
      const keys = group.keysOf(caller);
      const costs = group.limits.map(({ rate }, index): Cost => ({ key: keys[index] ?? '', rate }));
      const quotas = rateLimiter.take(costs);
      if (!(quotas instanceof Promise)) {
        applyQuotas(group, quotas, reply);
        return undefined;
      }
      return quotas.then((known) => {
        applyQuotas(group, known, reply);
      });
    },
    rateLimiter,
    close: () => rateLimiter.close(),
  };
}
