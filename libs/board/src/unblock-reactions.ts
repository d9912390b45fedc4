/**
 * Emits an event for each story that is no longer blocked, because its last open blocker was done, canceled
 * or deleted.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type StoryStatus, subjectOf } from '@muster/contract';
import { type EventReaction } from '@muster/runtime';
import { type DomainEvent } from '@muster/tenancy';
import { isFinished } from './rules/workflow.ts';

const isBlockerFinished = ({ kind, subject, data }: DomainEvent): boolean =>
  subject.type === 'story' &&
  (kind === 'story.deleted' ||
    (kind === 'story.statusChanged' &&
      isFinished(data['to'] as StoryStatus) &&
      !isFinished(data['from'] as StoryStatus)));

interface UnblockedStoryRow {
  readonly id: string;
  readonly project_id: string;
  readonly key: string;
  readonly title: string;
}

const lockBlockedStories = (db: Db, blockerIds: readonly string[]): Promise<unknown> =>
  db.all(
    sql`select s.id from stories s where ${orgFilter('s')} and s.id in (select b.story_id from story_blockers b
        where ${orgFilter('b')} and b.blocker_id = any (${blockerIds}::uuid[]))
      order by s.id for no key update of s`,
  );

export const unblockReactions: EventReaction = async ({ db, domainEvents }) => {
  const ended = domainEvents.filter(isBlockerFinished);
  if (ended.length === 0) return [];
  const ids = ended.map(({ subject }) => subject.id);
  const deleted = ended.filter(({ kind }) => kind === 'story.deleted').map(({ subject }) => subject.id);
  const [, , unblocked] = await Promise.all([
    // The deletion changes the rows of waiting stories, so they are locked first. A call that ends such a
    // story also locks its row.
    deleted.length === 0 ? [] : lockBlockedStories(db, deleted),
    // Transactions that end the last two blockers of a story at the same time are serialized, so that one of
    // them sees the other.
    db.all(
      sql`select pg_advisory_xact_lock(hashtextextended('unblock ' || w.story_id, 0))
        from (select distinct b.story_id from story_blockers b
          where ${orgFilter('b')} and b.blocker_id = any (${ids}::uuid[]) order by b.story_id) w`,
    ),
    // Stories that this transaction has finished may still be stored as open, because their rows are written
    // with COMMIT.
    db.all(
      sql<UnblockedStoryRow>`select s.id, s.project_id, p.key || '-' || s.number as key, s.title
        from stories s join projects p on ${orgFilter('p')} and p.id = s.project_id
        where ${orgFilter('s')} and s.completed_at is null and s.id <> all (${ids}::uuid[])
          and s.id in (select b.story_id from story_blockers b
            join stories x on ${orgFilter('x')} and x.id = b.blocker_id
            where ${orgFilter('b')} and b.blocker_id = any (${ids}::uuid[])
              and (x.completed_at is null or x.id <> all (${deleted}::uuid[])))
          and not exists (select from story_blockers o
            join stories y on ${orgFilter('y')} and y.id = o.blocker_id
            where ${orgFilter('o')} and o.story_id = s.id and y.completed_at is null and y.id <> all (${ids}::uuid[]))
        order by s.id`,
    ),
  ]);
  return unblocked.map((story): DomainEvent => ({
    ...{ kind: 'story.unblocked', subject: subjectOf('story', story, story.title, story.key) },
    data: {},
  }));
};
