/** Tests that handlers can undo an attempt without leaving a trace. */
import { describe, expect, it } from '@jest/globals';
import { newId, sql } from '@muster/driver';
import { operation, org, type Subject } from '@muster/contract';
import { useWorld } from '@muster/testing';
import { z } from 'zod';
import { handle, type Handler, type HandlerContext } from './index.ts';

const world = useWorld({});

const contract = operation({
  name: 'tries.addTeams',
  effect: 'write',
  summary: 'Try it',
  description: 'For specs.',
  access: org('member'),
  params: z.strictObject({}),
  result: z.object({ names: z.array(z.string()) }),
  emits: ['team.created'],
  example: {},
});
type Context = HandlerContext<typeof contract>;

const createAddingHandler = (
  work: (context: Context, add: (name: string) => void) => Promise<string[]>,
): Handler =>
  handle(contract, async (context) => {
    const { db, caller, emit } = context;
    const add = (name: string): void => {
      const id = newId();
      const subject: Subject = { type: 'team', id, key: null, title: name, projectId: null };
      db.deferToCommit(sql`insert into teams (org_id, id, name) values (${caller.orgId}, ${id}, ${name})`);
      emit('team.created', subject, {});
    };
    return { names: await work(context, add) };
  });

const observeEffects = async (work: Parameters<typeof createAddingHandler>[0], key?: string) => {
  const { ana, orgId } = await world.org();
  await world.call(ana, createAddingHandler(work), {}, key === undefined ? {} : { idempotencyKey: key });
  const [left] = await world.rows<{ teams: string[]; told: string[]; audit: string[] }>(
    `select array(select name from teams where org_id = $1 order by name) as teams,
       array(select subject ->> 'title' from activity where org_id = $1 order by seq) as told,
       array(select operation from audit where org_id = $1 order by seq) as audit`,
    orgId,
  );
  return left;
};

describe('an attempt', () => {
  it('that answers undefined leaves neither rows nor events; what went before and after it stays', async () => {
    const left = await observeEffects(async ({ runInSavepoint, db }, add) => {
      add('a');
      await runInSavepoint(async () => {
        add('b');
        // This statement makes the session send the deferred insert of `b`. The attempt undoes that insert
        // nevertheless.
        await db.all(sql`select 1`);
        add('c');
        return undefined;
      });
      add('d');
      return [];
    });
    expect(left).toEqual({ teams: ['a', 'd'], told: ['a', 'd'], audit: ['tries.addTeams'] });
  });

  it('that answers something stays whole', async () => {
    const left = await observeEffects(async ({ runInSavepoint }, add) => {
      const name = await runInSavepoint(async () => {
        add('a');
        return 'a';
      });
      return [name ?? 'none'];
    });
    expect(left).toEqual({ teams: ['a'], told: ['a'], audit: ['tries.addTeams'] });
  });

  it('lets go of its locks', async () => {
    const { ana, ben, orgId } = await world.org();
    const lock = sql`select id from orgs where id = ${orgId} for update`;
    const outcome = await world.call(
      ana,
      createAddingHandler(async ({ runInSavepoint, db }) => {
        await runInSavepoint(async () => {
          await db.all(lock);
          return undefined;
        });
        // This call asks for the lock with `nowait`. Without `nowait`, a lock that the attempt kept would
        // block this call forever, because the outer call waits for it.
        await world.call(
          ben,
          createAddingHandler(async (other) => {
            await other.db.all(sql`select id from orgs where id = ${orgId} for update nowait`);
            return [];
          }),
          {},
        );
        return ['free'];
      }),
      {},
    );
    expect(JSON.parse(outcome.json)).toEqual({ names: ['free'] });
  });
});

describe('a write that says that it changed nothing', () => {
  const nothing = async ({ reportNoChange }: Context) => {
    reportNoChange();
    return [];
  };

  it('leaves no audit entry', async () => {
    expect(await observeEffects(nothing)).toEqual({ teams: [], told: [], audit: [] });
  });

  it('is kept under its Idempotency-Key', async () => {
    const { ana } = await world.org();
    const call = () => world.call(ana, createAddingHandler(nothing), {}, { idempotencyKey: 'k' });
    expect([(await call()).replayed, (await call()).replayed]).toEqual([false, true]);
  });

  it('is a fault where it said an event', async () => {
    await expect(
      observeEffects(async ({ reportNoChange }, add) => {
        add('a');
        reportNoChange();
        return [];
      }),
    ).rejects.toThrow(/nothing changed/);
  });
});
