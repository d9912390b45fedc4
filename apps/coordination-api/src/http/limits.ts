/**
 * How often a token may call, and an organization with all its tokens. A renewal of a lease is counted by itself, per
 * token: whoever calls too often loses no lease by it, and takes none from the colleagues.
 */
import { type Identity } from '@muster/database';
import { tooMany } from '@muster/registry';
import {
  createLedger,
  type Draw,
  type Level,
  levelsOf,
  type Limit,
  policiesOf,
  type Rate,
  retryAfterSeconds,
} from '@muster/http';
import { type FastifyReply } from 'fastify';
import { type Logger } from 'pino';

export interface CallLimits {
  /** Counts a call. Throws 429 for one too many; waits for Redis only where it is near that, and not for long. */
  admit(caller: Identity, reply: FastifyReply, isRenewal: boolean): Promise<void> | undefined;
  close(): Promise<void>;
}

interface Options {
  readonly token: Rate;
  readonly organization: Rate;
  /** Where all processes count together; without it each counts for itself. */
  readonly redisUrl: string | undefined;
  readonly timeoutMillis: number;
  readonly logger: Logger;
}

/** One slot of a cluster has them all: a script may not reach over several. */
const prefix = '{calls}';

/** Its name is that of the reason, too. */
type CallLimit = Limit & { readonly name: 'token' | 'organization' | 'renewal' };

/** Limits that count together, and what is said of them in every answer. */
interface Book {
  readonly limits: readonly CallLimit[];
  readonly policies: string;
  readonly keysOf: (caller: Identity) => readonly string[];
}

const bookOf = (limits: readonly CallLimit[], keysOf: Book['keysOf']): Book => ({
  limits,
  policies: policiesOf(limits),
  keysOf,
});

export function createCallLimits(options: Options): CallLimits {
  const { token, organization, redisUrl, timeoutMillis, logger } = options;
  const ledger = createLedger(
    redisUrl === undefined
      ? undefined
      : {
          ...{ redisUrl, timeoutMillis },
          onRedis: (isAway, error) => {
            if (isAway) logger.warn({ err: error }, 'Redis is away; calls are counted in this process');
            else logger.info('Redis is back');
          },
        },
  );
  const calls = bookOf(
    [
      { name: 'token', rate: token },
      { name: 'organization', rate: organization },
    ],
    ({ tokenId, orgId }) => [`${prefix}:token:${tokenId}`, `${prefix}:organization:${orgId}`],
  );
  const renewals = bookOf([{ name: 'renewal', rate: token }], ({ tokenId }) => [
    `${prefix}:renewal:${tokenId}`,
  ]);

  const judge = ({ limits, policies }: Book, levels: readonly Level[], reply: FastifyReply): void => {
    reply.header('ratelimit-policy', policies).header('ratelimit', levelsOf(limits, levels));
    const empty = limits.find((_, index) => (levels[index]?.waitMillis ?? 0) > 0);
    if (empty !== undefined) throw tooMany(`${empty.name}_limit`, retryAfterSeconds(levels));
  };

  return {
    admit: (caller, reply, isRenewal) => {
      const book = isRenewal ? renewals : calls;
      const keys = book.keysOf(caller);
      const draws = book.limits.map(({ rate }, index): Draw => ({ key: keys[index] ?? '', rate }));
      const levels = ledger.take(draws);
      if (!(levels instanceof Promise)) {
        judge(book, levels, reply);
        return undefined;
      }
      return levels.then((known) => {
        judge(book, known, reply);
      });
    },
    close: () => ledger.close(),
  };
}
