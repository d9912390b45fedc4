/** How a transaction that changed something ends, whether a caller, an invited person or the worker changed it. */
import { type Db } from '@muster/driver';
import { type Actor } from '@muster/registry';
import { type AuditFacts, type DomainEvent, trail } from '@muster/tenancy';
import { type Reaction } from './handle.ts';

/** What was done in the transaction. */
export interface Conclusion {
  readonly orgId: string;
  readonly actor: Actor;
  readonly domainEvents: readonly DomainEvent[];
  readonly facts: AuditFacts;
}

/** What follows from the events, and then activity, outbox and audit, which are the last statement of the transaction. */
export async function conclude(
  db: Db,
  { orgId, actor, domainEvents: happened, facts }: Conclusion,
  reactions: readonly Reaction[],
): Promise<void> {
  const domainEvents = [...happened];
  if (happened.length > 0)
    for (const react of reactions)
      domainEvents.push(...((await react({ db, orgId, actor, domainEvents })) ?? []));
  db.later(trail(actor, facts, { allowed: true, domainEvents }));
}
