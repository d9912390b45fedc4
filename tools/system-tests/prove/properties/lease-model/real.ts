/**
 * The real side of the comparison: the handlers on Postgres, the changes that only time or another library
 * makes, and the view of the database.
 */
import { type ProofBoard, targets, type TargetName, typeOf } from '../../board.ts';
import { type CallSet, callsOn } from '../../calls.ts';
import { callAt, type CallResult, type Desk, type Name, names, type NewCall } from '../../team.ts';

export interface Real {
  readonly board: ProofBoard;
  readonly calls: CallSet;
  call(call: NewCall): Promise<CallResult>;
  /** Counts a command or an answer. */
  count(what: string): void;
  expire(target: TargetName): Promise<void>;
  letOfferLapse(executionId: string): Promise<void>;
  /** Deletes the locks that belong to no execution. */
  unlockBeside(): Promise<void>;
  /** Returns the state of the database in the form of the model's view. */
  view(): Promise<Record<string, unknown>>;
}

export function createReal(board: ProofBoard, desk: Desk, counts: Map<string, number>): Real {
  const { team, ids, projectId } = board;
  const { owner } = team.database;
  const { orgId } = team;
  const query = async (sql: string, ...parameters: unknown[]): Promise<void> => {
    await owner.query(sql, [orgId, ...parameters]);
  };
  return {
    ...{ board, calls: callsOn(board) },
    call: (call) => callAt(desk, team, call),
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    // Expires the lease and the locks of its execution.
    expire: async (target) => {
      await query(
        `update leases set expires_at = least(expires_at, clock_timestamp() - interval '1 second')
         where org_id = $1 and unit_type = $3 and unit_id = $2 and state = 'held'`,
        ids[target],
        typeOf(target),
      );
      await query(
        `update locks k set expires_at = least(k.expires_at, clock_timestamp() - interval '1 second') from executions e
         where k.org_id = $1 and e.org_id = $1 and e.id = k.execution_id and e.target_id = $2`,
        ids[target],
      );
    },
    letOfferLapse: async (executionId) => {
      await query(
        `update executions set offer = offer || '{"expiresAt": "2026-01-01T00:00:00.000Z"}'
         where org_id = $1 and id = $2`,
        executionId,
      );
      await query(
        `update locks set expires_at = clock_timestamp() - interval '1 second' where org_id = $1 and execution_id = $2`,
        executionId,
      );
    },
    unlockBeside: () =>
      query('delete from locks where org_id = $1 and project_id = $2 and execution_id is null', projectId),
    view: async () => {
      const { rows } = await owner.query<Row>({
        // The query runs after each command, so it is a prepared statement that is planned once.
        ...{ name: 'view', text: viewSql },
        values: [orgId, targets.map((name) => ids[name]), targets.map(typeOf)],
      });
      return toView(board, rows);
    },
  };
}

interface Row {
  readonly target_id: string;
  readonly status: string | null;
  readonly epoch: number | null;
  readonly held: boolean;
  readonly member_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly ttl: number | null;
  readonly expired: boolean | null;
  readonly execution: Record<string, unknown> | null;
  readonly waiting_for: string | null;
  readonly offered_member: string | null;
  readonly offered_agent: string | null;
  readonly lock_member: string | null;
  readonly lock_agent: string | null;
  readonly lock_lapsed: boolean | null;
  readonly lock_is_short: boolean;
}

/**
 * Selects the newest execution of each target with its lease and its lock, and the number of gaps in its
 * event stream.
 */
const viewSql = `
  select t.id as target_id, s.status, l.epoch, coalesce(l.state = 'held', false) as held, l.member_id, l.agent_id,
    l.run_id, l.ttl_seconds as ttl, l.expires_at <= clock_timestamp() as expired,
    e.waiting_for, e.offer ->> 'toMemberId' as offered_member, e.offer ->> 'toAgentId' as offered_agent,
    k.member_id as lock_member, k.agent_id as lock_agent,
    k.expires_at <= clock_timestamp() as lock_lapsed,
    coalesce(l.state = 'held' and e.state in ('leased', 'waiting_input') and k.expires_at < l.expires_at, false) as lock_is_short,
    case when e.id is not null then jsonb_build_object('id', e.id, 'attempt', e.attempt, 'epoch', e.epoch,
      'state', case when e.state in ('leased', 'waiting_input') and l.expires_at <= clock_timestamp() then 'stalled'
        when e.state = 'offered' and (e.offer ->> 'expiresAt')::timestamptz <= clock_timestamp() then 'available'
        else e.state end,
      'offered', e.state = 'offered', 'checkpointSeq', e.checkpoint_seq, 'stopped', e.stop_requested is not null,
      'outcome', case when e.state = 'completed' then e.outcome end, 'needsRework', e.needs_rework,
      'gaps', (select count(*) + abs(coalesce(max(v.seq), 0) - e.last_event_seq)
        + abs(coalesce(max(v.seq), 0) - count(*)) - count(*)
        from execution_events v where v.org_id = $1 and v.execution_id = e.id)) end as execution
  from unnest($2::uuid[], $3::text[]) as t (id, type)
  left join stories s on s.org_id = $1 and s.id = t.id
  left join leases l on l.org_id = $1 and l.unit_type = t.type and l.unit_id = t.id
  left join lateral (select * from executions x
    where x.org_id = $1 and x.target_type = t.type and x.target_id = t.id order by x.id desc limit 1) e on true
  left join lateral (select * from locks y where y.org_id = $1 and y.execution_id = e.id limit 1) k on true`;

function toView({ team, ids, questions }: ProofBoard, rows: readonly Row[]): Record<string, unknown> {
  const nameOf = (memberId: string | null, agentId: string | null): Name | null =>
    names.find(
      (name) =>
        team.people[name].agentId === agentId &&
        (memberId === null ? agentId !== null : team.people[name].memberId === memberId),
    ) ?? null;
  const view: Record<string, unknown> = {};
  for (const name of targets) {
    const row = rows.find(({ target_id: id }) => id === ids[name]);
    if (row === undefined) throw new Error(`nothing is known of ${name}`);
    if (row.status !== null) view[`${name} status`] = row.status;
    view[`${name} epoch`] = row.epoch ?? 0;
    view[`${name} holder`] = row.held
      ? `${nameOf(row.member_id, row.agent_id) ?? 'nobody'}/${row.run_id ?? ''} for ${row.ttl ?? 0} s`
      : null;
    view[`${name} expired`] = row.held ? row.expired : null;
    view[name] = row.execution && {
      ...row.execution,
      offeredTo: row.execution['offered'] === true ? nameOf(row.offered_member, row.offered_agent) : null,
      waitingFor: Object.entries(questions).find(([, id]) => id === row.waiting_for)?.[0] ?? null,
      lock: nameOf(row.lock_member, row.lock_agent),
      lockLapsed: row.lock_lapsed,
      lockIsShort: row.lock_is_short,
    };
  }
  return view;
}
