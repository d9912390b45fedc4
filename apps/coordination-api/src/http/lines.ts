/**
 * Lines in which calls wait for their turn, without a place: so a caller with many calls at once delays its own, and
 * calls that would only wait for one another in Postgres take no connection.
 */
import { type Operation, unavailable } from '@muster/registry';
import { type Handler } from '@muster/runtime';
import { createConcurrencyLimiter, type Service } from '@muster/http';
import { type Identity } from '@muster/tenancy';
import { type FastifyRequest } from 'fastify';
import { createShares, inLineAtOnce } from './shares.ts';
import { Turns } from './turns.ts';

interface Options {
  readonly aside: Service['aside'];
  /** Maximum number of requests answered at once. */
  readonly placesAtOnce: number;
  /** Size of the connection pool to Postgres that they share. */
  readonly connections: number;
}

/** Takes a call through its lines. Returns the function that ends its turns, which may be called twice. */
export type EnterLines = (
  request: FastifyRequest,
  identity: Identity,
  params: unknown,
) => Promise<() => void>;

/** As many calls with the same key as there are turns are answered at once; further ones wait. */
interface Line {
  readonly turns: Turns;
  readonly keyOf: (identity: Identity, params: unknown) => string;
  /** Lets a call wait, or throws where too many wait; what it answers gives the place in the line back. */
  readonly enter: (identity: Identity) => () => void;
}

/** The record that a call names first, as it names it: by key and by id it is in two lines, which Postgres puts in one. */
function recordOf({ target }: Operation, { orgId }: Identity, params: unknown): string {
  const named =
    typeof params === 'object' && params !== null && target !== null
      ? (params as Record<string, unknown>)[target]
      : null;
  return `${orgId} ${typeof named === 'string' ? named.toLowerCase() : ''}`;
}

/** Returns what makes the lines of an operation's calls. */
export function createLines({ aside, placesAtOnce, connections }: Options): (handler: Handler) => EnterLines {
  const shares = createShares(inLineAtOnce, 'wait for their turn', 'too_many_waiting');
  const inFairLines = createConcurrencyLimiter(placesAtOnce * 4);
  /** As many calls of a member wait as are answered at once: further ones are refused, so that no answer comes late. */
  const enterFairLine = ({ memberId, orgId }: Identity): (() => void) => {
    const admission = inFairLines.enter([
      { key: memberId, most: placesAtOnce },
      { key: orgId, most: placesAtOnce * 2 },
    ]);
    if ('leave' in admission) return admission.leave;
    throw unavailable('overload', 'Too many requests at once; try again.');
  };
  /**
   * Lines of a member, with all its tokens and agents, and of an organization. Neither may have all there is, and a
   * member can make many tokens.
   */
  const fairLines = (ofMember: number, ofOrganization: number): readonly Line[] => [
    { turns: new Turns(Math.ceil(ofMember)), keyOf: ({ memberId }) => memberId, enter: enterFairLine },
    { turns: new Turns(Math.ceil(ofOrganization)), keyOf: ({ orgId }) => orgId, enter: enterFairLine },
  ];
  // Reads are limited by places; a write has a connection, also while it waits for a lock.
  const reads = fairLines(placesAtOnce / 3, placesAtOnce / 2);
  const writes = fairLines(connections / 2, (connections * 5) / 6);

  /** A renewal has no line, so that no lease is lost under load. A call in the line of a record holds no other turn. */
  const linesOf = ({ operation, atOnce }: Handler): readonly Line[] => {
    if (operation.isRenewal) return [];
    const fair = operation.effect === 'write' ? writes : reads;
    if (atOnce === undefined) return fair;
    const keyOf = (identity: Identity, params: unknown): string => recordOf(operation, identity, params);
    return [{ turns: new Turns(atOnce), keyOf, enter: (identity) => shares.enter(identity) }, ...fair];
  };

  const waitFor = async (
    { turns, enter }: Line,
    key: string,
    request: FastifyRequest,
    identity: Identity,
  ): Promise<void> => {
    const leave = enter(identity);
    await aside(request, async (left) => {
      if (!(await turns.wait(key, left)))
        throw unavailable('overload', 'The caller left before its turn came.');
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
          if (!turns.take(key)) await waitFor(line, key, request, identity);
          leaves.push(() => {
            turns.leave(key);
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
