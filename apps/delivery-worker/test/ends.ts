/** Helpers for expired leases and their sweep. */
import { type deliveryHandlers } from '@muster/delivery';
import { type Person, type World } from '@muster/testing';
import { sweepExpiredLeases } from '../src/sweep.ts';
import { type WorkerBoard } from './board.ts';

type Holder = Person<Pick<typeof deliveryHandlers, 'deliveryExecutions'>>;

export function endsIn(world: World) {
  const acquire = async (who: Holder, story = 1) => {
    const { execution, leaseToken } = await who.deliveryExecutions.acquire({
      targetType: 'story',
      targetId: `WEB-${story}`,
    });
    return { executionId: execution.id, leaseToken };
  };

  /** Expires all held leases. */
  const timePasses = (orgId: string) =>
    world.rows(
      `update leases set expires_at = clock_timestamp() - interval '1 second' where org_id = $1 and state = 'held'`,
      orgId,
    );

  const sweepOnce = () => sweepExpiredLeases(world.database.app);

  const expiries = (orgId: string) =>
    world.rows<{ execution_id: string; seq: number }>(
      `select execution_id, seq from execution_events where org_id = $1 and kind = 'expired' order by execution_id, seq`,
      orgId,
    );

  /** Lists the notifications by the member's name. */
  const told = (orgId: string) =>
    world.rows<{ name: string; kind: string; title: string }>(
      `select m.name, n.kind, n.title from notifications n join members m on m.org_id = n.org_id and m.id = n.member_id
       where n.org_id = $1 order by m.name collate "C", n.id`,
      orgId,
    );

  const assign = ({ people, projectId, storyIds }: WorkerBoard, who: Person, groupId?: string) =>
    world.rows(
      `insert into assignments (org_id, target_type, target_id, project_id, member_id, agent_id)
       values ($1, $2, $3, $4, $5, $6)`,
      people.orgId,
      groupId === undefined ? 'story' : 'delivery_group',
      groupId ?? storyIds[0],
      projectId,
      who.me.agentId === null ? who.me.memberId : null,
      who.me.agentId,
    );
  return { acquire, timePasses, sweepOnce, expiries, told, assign };
}
