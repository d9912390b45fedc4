/** Facts that wait for the execution that they concern. */
import { type Db, newId, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type Trust } from '@muster/contract';
import { type DeliveryFact, factKey } from '../rules/fact.ts';

/** Stores a parked fact, which waits for its execution. A repeated fact is stored once. */
export const parkFact = (
  repositoryId: string,
  fact: DeliveryFact,
  keys: readonly string[],
  trust: Trust,
): Query<unknown> =>
  sql`insert into forge_facts (org_id, id, repository_id, dedupe_key, keys, fact, trust)
     values (${currentOrgId}, ${newId()}, ${repositoryId}, ${factKey(fact)}, ${keys}::text[], ${JSON.stringify(fact)}::jsonb, ${trust})
     on conflict (org_id, repository_id, trust, dedupe_key) do nothing`;

interface ParkedFact {
  readonly id: string;
  readonly repositoryId: string;
  /** The fact as JSON. */
  readonly fact: unknown;
  readonly trust: Trust;
}

const maxParkedFacts = 200;

/** Finds the parked facts that wait for any of the keys, oldest first. */
export const findParkedFacts = (
  db: Db,
  repositoryIds: readonly string[],
  keys: readonly string[],
): Promise<ParkedFact[]> =>
  db.all(
    sql<ParkedFact>`select f.id, f.repository_id as "repositoryId", f.fact, f.trust from forge_facts f
       where ${orgFilter('f')} and f.repository_id = any (${repositoryIds}::uuid[]) and f.keys && ${keys}::text[]
       order by f.fact ->> 'at', f.id limit ${maxParkedFacts}`,
  );

export const deleteParkedFacts = (ids: readonly string[]): Query<unknown> =>
  sql`delete from forge_facts where ${orgFilter()} and id = any (${ids}::uuid[])`;

/**
 * Requests a job that processes the parked facts of a project with a linked repository. The job is requested
 * even if nothing is parked yet, because another transaction may be parking a fact now. The job waits for
 * that transaction.
 */
export const requestReplay = (projectId: string, executionId: string): Query<unknown> =>
  sql`insert into outbox (org_id, id, topic, payload)
     select ${currentOrgId}, ${newId()}, 'forge.replay', ${JSON.stringify({ executionId })}::jsonb
     where exists (select from forge_repositories r where ${orgFilter('r')} and r.project_id = ${projectId})`;
