/**
 * Lines in which calls wait for their turn, without a place: so a caller with many calls at once delays its own, and
 * calls that would only wait for one another in Postgres take no connection.
 */
import { type Operation, unavailable } from '@muster/registry';
import { type Handler } from '@muster/runtime';
import { type Identity } from '@muster/database';
import { type Service } from '@muster/http';
import { type FastifyRequest } from 'fastify';
import { createShares, inLineAtOnce } from './shares.ts';
import { Turns } from './turns.ts';

interface Options {
  readonly aside: Service['aside'];
  /** How many requests are answered at once. */
  readonly placesAtOnce: number;
  /** How many connections to Postgres they share. */
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
}

/** Lines of a token and of an organization, neither of which may have all there is. */
const fairLines = (ofToken: number, ofOrganization: number): readonly Line[] => [
  { turns: new Turns(Math.ceil(ofToken)), keyOf: ({ tokenId }) => tokenId },
  { turns: new Turns(Math.ceil(ofOrganization)), keyOf: ({ orgId }) => orgId },
];

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
  // guard: reads of one token leave places free
  const reads = fairLines(placesAtOnce / 3, placesAtOnce / 2);
  // guard: writes of one token leave connections free, also where they wait for a lock
  const writes = fairLines(connections / 2, (connections * 5) / 6);

  /** A renewal has no line, so that no lease is lost in a crowd. A call in the line of a record holds no other turn. */
  const linesOf = ({ operation, atOnce }: Handler): readonly Line[] => {
    if (operation.isRenewal) return [];
    const fair = operation.effect === 'write' ? writes : reads;
    if (atOnce === undefined) return fair;
    const keyOf = (identity: Identity, params: unknown): string => recordOf(operation, identity, params);
    return [{ turns: new Turns(atOnce), keyOf }, ...fair];
  };

  const waitFor = async (turns: Turns, key: string, request: FastifyRequest, identity: Identity) => {
    const leave = shares.enter(identity);
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
        for (const { turns, keyOf } of lines) {
          const key = keyOf(identity, params);
          if (!turns.take(key)) await waitFor(turns, key, request, identity);
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
