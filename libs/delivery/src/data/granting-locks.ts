/** All that decides whether a lock can be had, read behind the row that grants of a project take turns at. */
import { type Db, type Query, sqlQuery, Values } from '@muster/database';
import { type Caller, notFound, visibleProjects } from '@muster/runtime';
import { type Holder } from '../rules/acquire.ts';
import { type Claim } from '../rules/lock-resources.ts';
import { readClock } from './leases.ts';
import { isLive, lockList, type LockRow } from './locks.ts';

/** A live lock of another holder, as far as it has to be known to be compared. */
export interface HeldClaim extends Claim {
  readonly id: string;
}

/** The project that is locked in, and its newest token. */
export interface Counter {
  readonly project_id: string;
  readonly fencing_token: number;
}

/** A record that a lock is tied to. */
interface Tied {
  readonly id: string;
  readonly project_id: string;
}

export interface TiedExecution extends Tied {
  /** Whether the caller holds the lease, live or past its time; no clock in it, as for all that holders do. */
  readonly held: boolean;
  readonly epoch: number;
}

export interface Granting {
  readonly counter: Counter;
  readonly execution: TiedExecution | undefined;
  readonly story: Tied | undefined;
  /** The live locks of this holder. */
  readonly own: readonly LockRow[];
  readonly others: readonly HeldClaim[];
  /** By the database's clock, behind all of it: what is granted now begins after what had ended before. */
  readonly now: string;
}

interface Asked {
  readonly projectRef: string;
  readonly holder: Holder;
  readonly executionId: string | undefined;
  readonly storyRef: string | undefined;
  /** Somebody only wants to know: nothing is written or locked, and nobody has to wait. */
  readonly dryRun: boolean;
}

/** In one round trip. Grants of a project go one by one; then the work is locked, so that no lock outlives it. */
export async function lockForGrant(db: Db, caller: Caller, asked: Asked): Promise<Granting> {
  const { projectRef, executionId, storyRef, dryRun } = asked;
  const [, counter, execution, story, own, others, now] = await Promise.all([
    dryRun ? undefined : db.all(insertCounter(caller, projectRef)),
    db.find(counterOf(caller, projectRef, dryRun)),
    executionId === undefined ? undefined : findExecution(db, caller, executionId, dryRun),
    storyRef === undefined ? undefined : db.find(visibleStory(caller, storyRef)),
    db.all(ownLocks(caller, asked)),
    db.all(locksOfOthers(caller, asked)),
    readClock(db),
  ]);
  if (counter === undefined) throw notFound();
  if (executionId !== undefined && execution === undefined) throw notFound();
  if (storyRef !== undefined && story === undefined) throw notFound();
  return { counter, execution, story, own, others, now };
}

function insertCounter(caller: Caller, projectRef: string): Query<unknown> {
  const values = new Values(caller.orgId);
  return sqlQuery(
    `insert into lock_counters (org_id, project_id)
     select p.org_id, p.id from projects p where p.org_id = ${values.org} and p.id = ${values.projectId(projectRef)}
     on conflict do nothing`,
    values.list,
  );
}

function counterOf(caller: Caller, projectRef: string, dryRun: boolean): Query<Counter> {
  const values = new Values(caller.orgId);
  const project = values.projectId(projectRef);
  return dryRun
    ? sqlQuery(
        `select p.id as project_id, 0 as fencing_token from projects p where p.org_id = ${values.org} and p.id = ${project}`,
        values.list,
      )
    : sqlQuery(
        `select c.project_id, c.fencing_token from lock_counters c
         where c.org_id = ${values.org} and c.project_id = ${project} for no key update`,
        values.list,
      );
}

/**
 * The execution is locked, and only then its lease is read: whoever ends the work or takes it over writes both, and
 * frees its locks behind that. So of the two, one sees what the other did.
 */
async function findExecution(
  db: Db,
  caller: Caller,
  executionId: string,
  dryRun: boolean,
): Promise<TiedExecution | undefined> {
  const first = new Values(caller.orgId);
  const second = new Values(caller.orgId);
  const [, execution] = await Promise.all([
    dryRun
      ? undefined
      : db.all(
          sqlQuery(
            `select e.id from executions e
             where e.org_id = ${first.org} and e.id = ${first.uuid(executionId)} for no key update`,
            first.list,
          ),
        ),
    db.find(
      sqlQuery<TiedExecution>(
        `select e.id, e.project_id, coalesce(l.epoch, 0) as epoch,
           coalesce(e.state in ('leased', 'waiting_input') and l.state = 'held' and l.epoch = e.epoch
             and l.member_id = ${second.uuid(caller.memberId)}
             and l.agent_id is not distinct from ${second.$(caller.agentId)}::uuid, false) as held
         from executions e
         join ${visibleProjects(second, caller)} v on v.project_id = e.project_id
         left join leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
         where e.org_id = ${second.org} and e.id = ${second.uuid(executionId)}`,
        second.list,
      ),
    ),
  ]);
  return execution;
}

function visibleStory(caller: Caller, storyRef: string): Query<Tied> {
  const values = new Values(caller.orgId);
  return sqlQuery(
    `select s.id, s.project_id from stories s join ${visibleProjects(values, caller)} v on v.project_id = s.project_id
     where s.org_id = ${values.org} and s.id = ${values.storyId(storyRef)}`,
    values.list,
  );
}

const isOwn = (values: Values, { memberId, agentId, runId }: Holder): string =>
  `(k.member_id = ${values.uuid(memberId)} and k.agent_id is not distinct from ${values.$(agentId)}::uuid
    and k.run_id is not distinct from ${values.$(runId)}::text)`;

/** Locked, since they may be on their way to another: to whom the work is offered, with the locks that go with it. */
function ownLocks(caller: Caller, { projectRef, holder, dryRun }: Asked): Query<LockRow> {
  const values = new Values(caller.orgId);
  return sqlQuery(
    `select ${lockList} from locks k
     where k.org_id = ${values.org} and k.project_id = ${values.projectId(projectRef)} and ${isLive}
       and ${isOwn(values, holder)} order by k.id ${dryRun ? '' : 'for no key update'}`,
    values.list,
  );
}

function locksOfOthers(caller: Caller, { projectRef, holder }: Asked): Query<HeldClaim> {
  const values = new Values(caller.orgId);
  return sqlQuery(
    `select k.id, k.mode, k.resources from locks k
     where k.org_id = ${values.org} and k.project_id = ${values.projectId(projectRef)} and ${isLive}
       and not ${isOwn(values, holder)} order by k.id`,
    values.list,
  );
}

/** The token of a grant, the highest of its project. */
export const setCounter = (orgId: string, { project_id: projectId, fencing_token: token }: Counter) =>
  sqlQuery('update lock_counters set fencing_token = $3 where org_id = $1 and project_id = $2', [
    orgId,
    projectId,
    token,
  ]);

/**
 * Takes out what is past its time. What goes with an execution is left to its end, and what another transaction has in
 * its hands to that: nobody is waited for on the way out.
 */
export const deleteExpired = (orgId: string, projectId: string): Query<unknown> =>
  sqlQuery(
    `delete from locks where org_id = $1 and id in (
       select k.id from locks k where k.org_id = $1 and k.project_id = $2 and not (${isLive}) and k.execution_id is null
       order by k.id limit 1000 for update skip locked)`,
    [orgId, projectId],
  );
