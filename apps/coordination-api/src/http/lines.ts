/**
 * Queues in which calls wait without occupying a request slot. A caller with many concurrent calls delays
 * only its own calls. Calls that would block each other in Postgres hold no connection while they wait.
 */
import { type Operation, serviceUnavailable } from '@muster/contract';
import { type Handler } from '@muster/runtime';
import { createConcurrencyLimiter, type Service } from '@muster/http';
import { type TokenIdentity } from '@muster/tenancy';
import { type FastifyRequest } from 'fastify';
import { createWaitingCallLimiter, queuedCallLimits } from './shares.ts';
import { TurnQueues } from './turns.ts';

interface CallQueueOptions {
  readonly aside: Service['waitWithoutSlot'];
  /** Maximum number of requests that are answered at the same time. */
  readonly placesAtOnce: number;
  /** Size of the connection pool to Postgres that all calls share. */
  readonly connections: number;
}

/**
 * Takes a call through its queues. Returns the function that releases the turns of the call. That function
 * may be called twice.
 */
export type EnterQueues = (
  request: FastifyRequest,
  identity: TokenIdentity,
  params: unknown,
) => Promise<() => void>;

/** A queue that runs a limited number of calls with the same key at once; further calls wait. */
interface CallQueue {
  readonly turns: TurnQueues;
  readonly keyOf: (identity: TokenIdentity, params: unknown) => string;
  /** Lets a call wait, or throws if too many wait. Returns the function that ends the waiting. */
  readonly startWaiting: (identity: TokenIdentity) => () => void;
}

/**
 * Returns a key for the record that a call targets, as the call names it. Calls by key and by id use two
 * queues; Postgres row locks serialize them.
 */
function callTargetKeyOf({ target }: Operation, { orgId }: TokenIdentity, params: unknown): string {
  const named =
    typeof params === 'object' && params !== null && target !== null
      ? (params as Record<string, unknown>)[target]
      : null;
  return `${orgId} ${typeof named === 'string' ? named.toLowerCase() : ''}`;
}

/** Returns a function that creates the queues for an operation's calls. */
export function createCallQueues({
  aside,
  placesAtOnce,
  connections,
}: CallQueueOptions): (handler: Handler) => EnterQueues {
  const shares = createWaitingCallLimiter(queuedCallLimits, 'wait for their turn', 'too_many_waiting');
  const inFairLines = createConcurrencyLimiter(placesAtOnce * 4);
  /**
   * Limits how many calls of a member and of an organization may wait in a queue at the same time. Further
   * calls are refused, so that no response takes too long.
   */
  const enterFairLine = ({ memberId, orgId }: TokenIdentity): (() => void) => {
    const admission = inFairLines.acquire([
      { key: memberId, most: placesAtOnce },
      { key: orgId, most: placesAtOnce * 2 },
    ]);
    if ('leave' in admission) return admission.leave;
    throw serviceUnavailable('overload', 'The server has too many requests in progress; try again.');
  };
  /**
   * Creates the queues per member, for all its tokens and agents, and per organization. Neither may use the
   * full capacity, and a member can create many tokens.
   */
  const fairLines = (ofMember: number, ofOrganization: number): readonly CallQueue[] => [
    {
      turns: new TurnQueues(Math.ceil(ofMember)),
      keyOf: ({ memberId }) => memberId,
      startWaiting: enterFairLine,
    },
    {
      turns: new TurnQueues(Math.ceil(ofOrganization)),
      keyOf: ({ orgId }) => orgId,
      startWaiting: enterFairLine,
    },
  ];
  // Reads are limited by concurrent requests. A write holds a connection, even while it waits for a lock.
  const reads = fairLines(placesAtOnce / 3, placesAtOnce / 2);
  const writes = fairLines(connections / 2, (connections * 5) / 6);

  /**
   * Selects the queues of an operation. Lease renewals have no queue, so that no lease expires under load.
   * The queue of the record comes first, so a call that waits in it holds no turn of its member or
   * organization.
   */
  const linesOf = ({ operation, maxConcurrentCalls }: Handler): readonly CallQueue[] => {
    if (operation.isRenewal) return [];
    const fair = operation.effect === 'write' ? writes : reads;
    if (maxConcurrentCalls === undefined) return fair;
    const keyOf = (identity: TokenIdentity, params: unknown): string =>
      callTargetKeyOf(operation, identity, params);
    return [
      {
        turns: new TurnQueues(maxConcurrentCalls),
        keyOf,
        startWaiting: (identity) => shares.enter(identity),
      },
      ...fair,
    ];
  };

  const waitFor = async (
    { turns, startWaiting }: CallQueue,
    key: string,
    request: FastifyRequest,
    identity: TokenIdentity,
  ): Promise<void> => {
    const leave = startWaiting(identity);
    await aside(request, async (left) => {
      if (!(await turns.wait(key, left)))
        throw serviceUnavailable('overload', 'The client closed the connection before its turn came.');
    }).finally(leave);
  };

  return (handler) => {
    const lines = linesOf(handler);
    return async (request, identity, params) => {
      const leaves: (() => void)[] = [];
      const end = (): void => {
        for (const leave of leaves.splice(0)) leave();
      };
      try {
        for (const line of lines) {
          const { turns } = line;
          const key = line.keyOf(identity, params);
          if (!turns.tryTake(key)) await waitFor(line, key, request, identity);
          leaves.push(() => {
            turns.release(key);
          });
        }
      } catch (error) {
        end();
        throw error;
      }
      return end;
    };
  };
}
