/**
 * Performs operations on behalf of a job. No token requests them and no role is checked, so the job itself is
 * responsible for authorization. They run in the job's transaction, which ends like a caller's.
 */
import { type PlainDb, sql } from '@muster/driver';
import { type Actor, type InputOf, type Operation, refusal, type ResultOf } from '@muster/contract';
import { type AuditFacts, type DomainEvent } from '@muster/tenancy';
import { lockAgainstArchiving, isRefusedWhenArchived } from './archived.ts';
import { runReactionsAndWriteTrail } from './conclude.ts';
import { createHandlerContext, refuseToWait } from './execute.ts';
import { type Caller, type HandlerEnvironment } from './handle.ts';
import { parseParams } from './parse.ts';
import { targetOf } from './target.ts';

export interface SystemCallContext {
  readonly db: PlainDb;
  readonly orgId: string;
  readonly actor: Actor;
  readonly facts: AuditFacts;
  /**
   * The member for whom the job acts, if any; set together with `actor`. The job has checked the membership and the
   * role in the project.
   */
  readonly memberId?: string;
}

/**
 * Sets the record and the project that the following statements concern. Returns the time of the transaction.
 */
export const setTargetAndProject = ({ id, projectId }: { readonly id: string; readonly projectId: string }) =>
  sql<{ at: string; entered: string }>`select now() as at, set_config('muster.target_id', ${id}, true)
    || set_config('muster.project_id', ${projectId}, true) as entered`;

/**
 * Performs an operation on the record with this id, in its project. Throws its refusals, including
 * `archived`.
 */
export type PerformAsSystem = <O extends Operation>(
  operation: O,
  record: { readonly id: string; readonly projectId: string },
  params: InputOf<O>,
) => Promise<ResultOf<O>>;

/** The id of no member, so that no comparison with a member matches. */
const nilUuid = '00000000-0000-0000-0000-000000000000';

const systemCaller = ({ orgId, actor, memberId }: SystemCallContext): Caller => ({
  ...{ orgId, memberId: memberId ?? nilUuid, agentId: null, tokenId: nilUuid, tokenHash: null, actor },
  ...{ scopes: [memberId === undefined ? 'admin' : 'write'], projectIds: null },
});

/**
 * Runs `work`. If it performed a write or emitted an event, then writes the consequences: reactions,
 * activity, outbox and audit.
 */
export async function runAsSystem<Result>(
  call: SystemCallContext,
  environment: HandlerEnvironment,
  work: (perform: PerformAsSystem, emit: (domainEvent: DomainEvent) => void) => Promise<Result>,
): Promise<Result> {
  const { db, orgId, actor, facts, memberId } = call;
  const domainEvents: DomainEvent[] = [];
  const performed: string[] = [];
  const perform: PerformAsSystem = async (operation, on, params) => {
    const handler = environment.handlers.get(operation.name);
    if (handler === undefined) throw new Error(`${operation.name} has no handler here`);
    // The operation must see the writes of earlier operations. It must not overwrite them with values that it
    // read before they were written.
    db.flush();
    const { at } = await db.one(setTargetAndProject(on));
    if (isRefusedWhenArchived(operation) && (await lockAgainstArchiving(db))) throw refusal('archived');
    const parsed = parseParams(operation, params);
    if (operation.effect === 'write') performed.push(operation.name);
    const entry = async () => ({
      // The role of a member who acts by mail is not admin, whatever the member's role is otherwise.
      ...{
        at,
        orgRole: memberId === undefined ? ('admin' as const) : ('viewer' as const),
        targetId: on.id,
        projectId: on.projectId,
      },
    });
    const transaction = {
      session: { ...db, entry },
      target: targetOf(operation, parsed),
      domainEvents,
      environment,
      waitForNewEvents: refuseToWait,
      changedNothing: () => undefined,
    };
    const context = createHandlerContext(operation, systemCaller(call), parsed, transaction);
    // TypeScript cannot derive the result type from the operation's name, so the result of its handler is
    // cast.
    return (await handler.run(context)) as ResultOf<typeof operation>;
  };
  const result = await work(perform, (domainEvent) => void domainEvents.push(domainEvent));
  if (performed.length > 0 || domainEvents.length > 0)
    await runReactionsAndWriteTrail(db, { orgId, actor, domainEvents, facts }, environment.reactions);
  return result;
}
