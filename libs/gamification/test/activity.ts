/** Writes and counts activity for specs: entries as operations write them, counted as the worker does. */
import { newId, type Pool } from '@muster/driver';
import { type EventKind } from '@muster/contract';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type PointSyncResult, syncPointsTopic, syncPoints } from '../src/sync-points.ts';

/** The part of a spec's test world that this file uses. */
interface World {
  readonly rows: <Row>(sql: string, ...parameters: unknown[]) => Promise<Row[]>;
  readonly database: { readonly owner: Pool };
}
interface Person {
  readonly me: { readonly memberId: string };
}
interface Player extends Person {
  readonly gamification: { readonly profile: () => Promise<{ profile: { points: number } }> };
}

export interface ActivityEntry {
  readonly kind: EventKind;
  readonly by: Person;
  readonly storyId?: string;
  readonly projectId?: string | null;
  readonly data?: Record<string, unknown>;
  /** A time, as an SQL expression. */
  readonly at?: string;
}

/** Writes activity entries in order, as operations do. */
export async function writeActivity(world: World, orgId: string, ...entries: ActivityEntry[]): Promise<void> {
  const rows = entries.map(
    ({ kind, by, storyId = newId(), projectId = null, data = {}, at = 'now()' }, index) => ({
      ord: index + 1,
      id: newId(),
      kind,
      member_id: by.me.memberId,
      project_id: projectId,
      story_id: storyId,
      data,
      at,
    }),
  );
  const moments = [...new Set(rows.map(({ at }) => at))];
  const times = await world.rows<{ at: string }>(
    `select t.at from unnest(array[${moments.join(', ')}]::timestamptz[]) with ordinality t (at, n) order by n`,
  );
  const timeOf = new Map(moments.map((moment, index) => [moment, times[index]?.at]));
  await world.rows(
    `with s as (update streams set activity = activity + $3 where org_id = $1 returning activity - $3 as before)
     insert into activity (org_id, seq, id, kind, actor, member_id, project_id, story_id, subject, data, at)
     select $1, s.before + e.ord, e.id, e.kind, '{}', e.member_id, e.project_id, e.story_id,
       jsonb_build_object('type', 'story', 'id', e.story_id, 'key', null, 'title', 'A story'), e.data, e.at
     from s, jsonb_to_recordset($2::jsonb) as e (
       ord int, id uuid, kind text, member_id uuid, project_id uuid, story_id uuid, data jsonb, at timestamptz)`,
    orgId,
    JSON.stringify(rows.map((row) => ({ ...row, at: timeOf.get(row.at) }))),
    rows.length,
  );
}

const statusChangeActivity = (
  by: Person,
  storyId: string,
  from: string,
  to: string,
  more: Partial<ActivityEntry> = {},
): ActivityEntry => ({
  kind: 'story.statusChanged',
  by,
  storyId,
  data: { from, to, columnId: null },
  ...more,
});
export const done = (by: Person, storyId = newId(), more: Partial<ActivityEntry> = {}) =>
  statusChangeActivity(by, storyId, 'in_review', 'done', more);
export const reopenedActivity = (by: Person, storyId: string) =>
  statusChangeActivity(by, storyId, 'done', 'ready');
export const assignmentActivity = (
  by: Person,
  storyId: string,
  memberId: string | null,
  agentId: string | null = null,
): ActivityEntry => ({
  kind: 'assignment.changed',
  by,
  storyId,
  data: { memberId, agentId, previousMemberId: null, previousAgentId: null },
});

/** Counts points like the worker: with the database role of the services, in a transaction of the organization. */
export const syncAllPoints = (world: World, orgId: string): Promise<PointSyncResult> =>
  inOrganizationAsSystem(world.database.owner, orgId, (db) => syncPoints(db, orgId));

export const getPoints = async (who: Player): Promise<number> =>
  (await who.gamification.profile()).profile.points;

/** Reads the payloads of the outbox rows that request a points update. */
export const listJobs = (world: World, orgId: string): Promise<unknown[]> =>
  world.rows('select payload from outbox where org_id = $1 and topic = $2', orgId, syncPointsTopic);

export async function createProject(
  world: World,
  orgId: string,
  key: string,
  visibility: 'org' | 'private',
): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $3, $4, 'hosted')`,
    orgId,
    id,
    key,
    visibility,
  );
  return id;
}
