/**
 * Requests to addresses that people name. What a name leads to is looked at when the connection is made, and that very
 * address is connected to; a redirect is not followed. So no name leads into a network that the operator did not open.
 */
import { lookup as resolve } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { destinationOf, type NamedNetwork, refusedAddress, refusedUrl } from './addresses.ts';

/** Nothing was sent: the address may not be reached. */
export class AddressRefused extends Error {
  constructor(url: string, why: string) {
    super(`${new URL(url).host} ${why}`);
    this.name = 'AddressRefused';
  }
}

export interface GuardedFetch {
  (url: string, init?: RequestInit): Promise<Response>;
  readonly close: () => Promise<void>;
}

const connectMillis = 5_000;
/** Of an answer that is read; more is an error. */
const mostAnswerBytes = 5 * 1024 * 1024;

/** `networks`: what the operator opened beyond the public internet. */
export function createGuardedFetch(networks: readonly NamedNetwork[]): GuardedFetch {
  const agents = new Map<string, Agent>();
  const agentFor = (url: string): Agent => {
    const destination = destinationOf(url);
    const key = `${destination.protocol}${destination.port}`;
    const known = agents.get(key);
    if (known !== undefined) return known;
    const agent = new Agent({
      maxResponseSize: mostAnswerBytes,
      connect: {
        timeout: connectMillis,
        lookup: (host, options, done) => {
          resolve(host, { ...options, all: true }, (error, found) => {
            if (error !== null) {
              done(error, []);
              return;
            }
            const open = found.filter(
              ({ address }) => refusedAddress(address, destination, networks) === null,
            );
            if (open.length === 0) {
              done(
                new AddressRefused(
                  `${destination.protocol}//${host}`,
                  'leads to no address that may be reached',
                ),
                [],
              );
              return;
            }
            const [first] = open;
            if (options.all === true || first === undefined) done(null, open);
            else done(null, first.address, first.family);
          });
        },
      },
    });
    agents.set(key, agent);
    return agent;
  };

  const guarded = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const refused = refusedUrl(url, networks);
    if (refused !== null) throw new AddressRefused(url, refused);
    const { host, isAddress } = destinationOf(url);
    if (isAddress !== (isIP(host) !== 0)) throw new AddressRefused(url, 'is no address that may be reached');
    try {
      return await fetch(url, { ...init, redirect: 'error', dispatcher: agentFor(url) });
    } catch (error) {
      // What went wrong in the look-up is the cause of what fetch says.
      if (error instanceof Error && error.cause instanceof AddressRefused) throw error.cause;
      throw error;
    }
  };
  return Object.assign(guarded, {
    close: async () => {
      await Promise.all([...agents.values()].map((agent) => agent.close()));
    },
  });
}
