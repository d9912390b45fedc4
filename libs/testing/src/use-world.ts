import { afterAll, beforeAll } from '@jest/globals';
import { type EventReaction } from '@muster/runtime';
import { cloneDatabase } from './database.ts';
import { openWorld, type OpenWorld } from './open-world.ts';
import { type World } from './world.ts';

/**
 * Sets up a test environment for the calling spec file: a database, and calls of the given handlers. Their events
 * trigger the given reactions.
 */
export function useWorld<Handlers extends object>(
  handlers: Handlers,
  reactions: readonly EventReaction[] = [],
): World<Handlers> {
  let open: OpenWorld<Handlers> | undefined;
  beforeAll(async () => {
    open = openWorld(await cloneDatabase(), handlers, reactions);
  });
  afterAll(() => open?.close());

  const ready = (): World<Handlers> => {
    if (open === undefined) throw new Error('the world is there from beforeAll on');
    return open;
  };
  return {
    get database() {
      return ready().database;
    },
    org: (setUp) => ready().org(setUp),
    member: (...person) => ready().member(...person),
    token: (...person) => ready().token(...person),
    call: (...asked) => ready().call(...asked),
    batchStatements: (make) => ready().batchStatements(make),
    rows: (...statement) => ready().rows(...statement),
    client: (secret) => ready().client(secret),
    runUnderContention: (lock, ...calls) => ready().runUnderContention(lock, ...calls),
    waitUntilBlocked: (count) => ready().waitUntilBlocked(count),
  };
}
