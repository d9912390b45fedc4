/** Tests how a handler sees the caller's role if it changes during the call. */
import { expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { operation, project } from '@muster/contract';
import { useWorld } from '@muster/testing';
import { z } from 'zod';
import { handle, type Handler } from './index.ts';

const world = useWorld({});

/**
 * Builds a write that passes the authorization check, runs `whileRunning`, and then reads the caller's rank in
 * the project.
 */
const createRankHandler = (whileRunning: () => Promise<unknown>): Handler =>
  handle(
    operation({
      ...{ name: 'tries.rank', summary: 'Try it', description: 'For specs.', effect: 'write' },
      ...{ access: project('viewer'), params: z.strictObject({ projectId: z.string() }) },
      ...{ result: z.object({ rank: z.int() }), example: { projectId: 'WEB' } },
    }),
    async ({ access, projectRank }) => {
      await access();
      await whileRunning();
      return { rank: await projectRank() };
    },
  );

async function hidden() {
  const { orgId, chloe } = await world.org();
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'HID', 'Hid', 'private', 'hosted')`,
    orgId,
    id,
  );
  await world.rows(
    `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'contributor')`,
    ...[orgId, id, chloe.me.memberId],
  );
  return { chloe, id };
}

it('It is the role as it is now', async () => {
  const { chloe, id } = await hidden();
  const promoted = createRankHandler(() =>
    world.rows(`update project_members set role = 'lead' where project_id = $1`, id),
  );
  await expect(world.call(chloe, promoted, { projectId: id })).resolves.toMatchObject({ json: '{"rank":3}' });
});

it.each([
  ['the project was deleted', `update projects set deleted_at = now(), key = id::text where id = $1`],
  ['their role was taken away', `delete from project_members where project_id = $1`],
])('There is nothing to be found any more where %s after the door let them in', async (_what, change) => {
  const { chloe, id } = await hidden();
  const left = createRankHandler(() => world.rows(change, id));
  await expect(world.call(chloe, left, { projectId: id })).rejects.toMatchObject({ code: 'not_found' });
});
