/** Ends a transaction that changed something, for callers, invited people and the worker alike. */
import { type Db } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { type AuditFacts, type DomainEvent, trailStatement } from '@muster/tenancy';
import { type EventReaction } from './handle.ts';

/** The work that was done in the transaction. */
export interface CompletedWork {
  readonly orgId: string;
  readonly actor: Actor;
  readonly domainEvents: readonly DomainEvent[];
  readonly facts: AuditFacts;
}

/**
 * Runs the reactions to the events. Then writes activity, outbox and audit in the last statement of the
 * transaction.
 */
export async function runReactionsAndWriteTrail(
  db: Db,
  { orgId, actor, domainEvents: happened, facts }: CompletedWork,
  reactions: readonly EventReaction[],
): Promise<void> {
  const domainEvents = [...happened];
  if (happened.length > 0)
    for (const react of reactions)
      domainEvents.push(...((await react({ db, orgId, actor, domainEvents })) ?? []));
  db.deferToCommit(trailStatement(actor, facts, { allowed: true, domainEvents }));
}
