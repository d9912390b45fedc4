import { describe, expect, it } from '@jest/globals';
import { handlers } from '@muster/operations';
import { handlersByOperation } from '@muster/runtime';
import { type TokenIdentity } from '@muster/tenancy';
import { type FastifyRequest } from 'fastify';
import { createCallQueues } from './lines.ts';

const handlerOf = (name: string) => {
  const found = handlersByOperation(handlers).get(name);
  if (found === undefined) throw new Error(`no handler of ${name}`);
  return found;
};

describe.each([
  ['reads', 'stories.get', { ofMember: 4, ofOrganization: 6 }],
  ['writes', 'comments.create', { ofMember: 3, ofOrganization: 5 }],
])('lines of %s', (_title, operation, { ofMember, ofOrganization }) => {
  const placesAtOnce = 12;
  const begin = () => {
    const running: string[] = [];
    const enterLines = createCallQueues({
      aside: (_request, wait) => wait(new AbortController().signal),
      ...{ placesAtOnce, connections: 6 },
    })(handlerOf(operation));
    let tokens = 0;
    /** Enters the queue with a new token for each call. */
    const enter = async (memberId: string, orgId = 'acme') => {
      const identity = { tokenId: `token ${(tokens += 1)}`, memberId, orgId } as TokenIdentity;
      const leave = await enterLines({} as FastifyRequest, identity, {});
      running.push(memberId);
      return leave;
    };
    const countRunning = async (): Promise<Record<string, number>> => {
      await new Promise(setImmediate);
      return Object.fromEntries(
        [...new Set(running)].map((memberId) => [memberId, running.filter((one) => one === memberId).length]),
      );
    };
    return { enter, countRunning };
  };

  it('let one member with many tokens keep no colleague out', async () => {
    const { enter, countRunning } = begin();
    const first = Array.from({ length: ofMember }, () => enter('ana'));
    const waiting = Array.from({ length: placesAtOnce }, () => enter('ana'));
    await expect(enter('ana')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await countRunning()).toEqual({ ana: ofMember });
    await enter('ben');
    expect(await countRunning()).toEqual({ ana: ofMember, ben: 1 });
    for (const call of first) (await call)();
    for (const call of waiting) (await call)();
    expect(await countRunning()).toEqual({ ana: ofMember + placesAtOnce, ben: 1 });
  });

  it('let one organization keep no other out', async () => {
    const { enter, countRunning } = begin();
    for (let index = 0; index < ofMember; index += 1) await enter('ana');
    for (let index = ofMember; index < ofOrganization; index += 1) await enter('ben');
    const next = enter('chloe');
    expect(await countRunning()).toEqual({ ana: ofMember, ben: ofOrganization - ofMember });
    const leaveOther = await enter('dan', 'other');
    leaveOther();
    expect(await countRunning()).toMatchObject({ dan: 1 });
    expect(await countRunning()).not.toHaveProperty('chloe');
    void next;
  });
});
