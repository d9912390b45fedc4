/**
 * The baseline of the benchmark: the same rows with the least work for Postgres and Node. The tables have the
 * same columns and indexes, without foreign keys, triggers and row-level security. Story numbers and stream
 * positions come from sequences, which hold no lock until commit. Each operation is one statement.
 */
import { bareLeaseStatements, bareLeaseTables } from './bare-leases.ts';

export const bareTables = `
  create schema bare;
  create table bare.stories (like public.stories including all);
  create table bare.comments (like public.comments including all);
  create table bare.activity (like public.activity including all);
  create table bare.audit (like public.audit including all);
  create table bare.outbox (like public.outbox including all);
  create sequence bare.number start 1000000 cache 100;
  create sequence bare.activity_seq cache 100;
  create sequence bare.audit_seq cache 100;
  ${bareLeaseTables}
  insert into bare.stories select * from public.stories;
  analyze bare.stories`;

const summary = `s.id, 'BARE-' || s.number as key, s.number, s.project_id as "projectId", s.title, s.status,
  s.column_id as "columnId", s.rank, s.epic_id as "epicId", s.parent_id as "parentId", s.priority, s.labels,
  s.estimate, s.due_date as "dueDate", s.touches,
  array[]::uuid[] as "blockedBy", s.blocked, s.spec_version as "specVersion", s.git, s.upstream,
  s.created_by as "createdBy", s.completed_at as "completedAt", s.created_at as "createdAt",
  s.updated_at as "updatedAt", s.version`;

/** SQL expressions for the trail of the story in the CTE `s`. */
interface TrailSubject {
  readonly key: string;
  /** The target of the audit entry. */
  readonly target: string;
}
const aboutBare: TrailSubject = { key: `'BARE-' || s.number`, target: 's.id' };

/**
 * Inserts the activity, outbox and audit rows of a write to the story of the CTE `s`. `$1` is the
 * organization, `$2` the actor.
 */
export const trailOf = (
  kind: string,
  operation: string,
  { key, target }: TrailSubject = aboutBare,
): string => `
  a as (insert into bare.activity (org_id, seq, id, kind, actor, member_id, project_id, story_id, subject, data)
    select $1::uuid, nextval('bare.activity_seq'), uuidv7(), '${kind}', $2::jsonb, ($2::jsonb ->> 'memberId')::uuid, s.project_id, s.id,
      jsonb_build_object('type', 'story', 'id', s.id, 'key', ${key}, 'title', s.title),
      jsonb_build_object('to', s.status) from s),
  o as (insert into bare.outbox (org_id, id, topic, payload)
    select $1::uuid, uuidv7(), 'event', jsonb_build_object('kind', '${kind}') from s),
  u as (insert into bare.audit (org_id, seq, id, actor, member_id, operation, target, outcome, ip, request_id)
    select $1::uuid, nextval('bare.audit_seq'), uuidv7(), $2::jsonb, ($2::jsonb ->> 'memberId')::uuid, '${operation}', ${target}, 'allowed',
      '127.0.0.1', 'bare' from s)`;

/** Inserts a story with this number. */
export const createStory = (number: string): string => `with n as materialized (select ${number} as number),
  s as (insert into bare.stories (org_id, id, project_id, number, title, description, status, column_id, rank,
      priority, labels, created_by)
    select $1::uuid, uuidv7(), $3::uuid, n.number, $4::text, $5::text, 'backlog', $6::uuid, 'z' || n.number, $7::text, $8::text[], $2::jsonb
    from n returning *),
  ${trailOf('story.created', 'stories.create')}
  select ${summary}, s.description from s`;

/** Statements by the path that they serve, with the names of their values in the body. */
export const bareStatements = {
  ...bareLeaseStatements(trailOf),
  '/stories/get': {
    text: `select ${summary}, s.description from bare.stories s where s.org_id = $1::uuid and s.id = $2`,
    values: ['orgId', 'storyId'],
    answer: 'story',
  },
  '/stories/context': {
    text: `select s.title, s.description, s.status, p.content,
        (select json_agg(json_build_object('id', c.id, 'parentId', c.parent_id, 'body', c.body, 'author', c.author,
            'createdAt', c.created_at) order by c.id)
          from public.comments c where c.org_id = s.org_id and c.story_id = s.id) as comments
      from bare.stories s join public.story_specs p on p.org_id = s.org_id and p.story_id = s.id and p.version = 1
      where s.org_id = $1::uuid and s.id = $2`,
    values: ['orgId', 'storyId'],
    answer: 'context',
  },
  '/stories/list': {
    text: `select ${summary} from bare.stories s where s.org_id = $1::uuid and s.project_id = $2
      order by s.column_id, s.rank limit $3`,
    values: ['orgId', 'projectId', 'limit'],
    answer: 'items',
  },
  '/stories/create': {
    text: createStory(`nextval('bare.number')`),
    values: ['orgId', 'actor', 'projectId', 'title', 'description', 'columnId', 'priority', 'labels'],
    answer: 'story',
  },
  '/stories/updateStatus': {
    text: `with s as (update bare.stories
        set status = $4, column_id = $5, rank = 'z' || nextval('bare.number'), updated_at = now(), version = version + 1
        where org_id = $1::uuid and id = $3 returning *),
      ${trailOf('story.statusChanged', 'stories.updateStatus')}
      select ${summary}, s.description from s`,
    values: ['orgId', 'actor', 'storyId', 'status', 'columnId'],
    answer: 'story',
  },
  '/comments/create': {
    text: `with s as (select * from bare.stories where org_id = $1::uuid and id = $3),
      c as (insert into bare.comments (org_id, id, story_id, kind, body, author, author_member_id)
        select $1::uuid, uuidv7(), s.id, 'comment', $4::text, $2::jsonb, ($2::jsonb ->> 'memberId')::uuid from s returning *),
      ${trailOf('comment.created', 'comments.create')}
      select c.id, c.story_id as "storyId", c.kind, c.body, c.author, c.mentions, c.created_at as "createdAt", c.version from c`,
    values: ['orgId', 'actor', 'storyId', 'body'],
    answer: 'comment',
  },
} as const;

export type BarePath = keyof typeof bareStatements;
