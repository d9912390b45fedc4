/** The unfinished work of a story that moves to done. */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { hasRepositoryLinkedTo, workTargetsSql } from '@muster/tenancy';

export interface UnfinishedWork {
  /** The keys of the story's open blockers. */
  readonly blockers: readonly string[];
  /** The keys of the story's first open children. */
  readonly children: readonly string[];
  /**
   * The name of the holder of a live lease on the story or on its open delivery group; null without such a
   * lease.
   */
  readonly holder: string | null;
  /** True if work on the story was submitted and a linked repository still has to report the merge. */
  readonly awaitsMerge: boolean;
}

export const findUnfinishedWork = (db: Db, storyId: IdOrSql): Promise<UnfinishedWork> =>
  db.one(
    sql<UnfinishedWork>`select array(
        select p.key || '-' || o.number from story_blockers b
          join stories o on ${orgFilter('o')} and o.id = b.blocker_id and o.completed_at is null
          join projects p on ${orgFilter('p')} and p.id = o.project_id
        where ${orgFilter('b')} and b.story_id = ${storyId} order by o.id) as blockers,
      array(
        select p.key || '-' || o.number from stories o join projects p on ${orgFilter('p')} and p.id = o.project_id
        where ${orgFilter('o')} and o.parent_id = ${storyId} and o.completed_at is null order by o.number limit 20) as children,
      (select l.holder ->> 'name'
        from (${workTargetsSql(sql.part`${storyId}::uuid`)}) t
          join leases l on ${orgFilter('l')} and l.unit_type = t.type and l.unit_id = t.id
        where l.state = 'held' and l.expires_at > clock_timestamp() limit 1) as holder,
      exists (select from executions e
        where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = ${storyId} and e.state = 'submitted'
          and ${hasRepositoryLinkedTo(sql.part`e.project_id`)}) as "awaitsMerge"`,
  );
