/** Test helpers that write stream entries as transactions would. */
import { newId } from '@muster/driver';
import { type EventKind } from '@muster/contract';
import { type People, type Person, type World } from '@muster/testing';

/** An entry to write. Absent fields are irrelevant to the test. */
export interface StreamEntry {
  readonly kind?: EventKind;
  readonly by?: Person;
  readonly projectId?: string | null;
  readonly storyId?: string | null;
  readonly at?: string;
}

export function arrangeStream(world: World, people: () => People) {
  /**
   * Writes entries into the organization's stream as a transaction would. Returns their ids, oldest first.
   */
  async function happen(...entries: StreamEntry[]): Promise<string[]> {
    const ids = entries.map(() => newId());
    const { ana, orgId } = people();
    await world.rows(
      `with s as (update streams set activity = activity + jsonb_array_length($2) where org_id = $1 returning activity)
       insert into activity (org_id, seq, id, kind, actor, member_id, agent_id, project_id, story_id, subject, data, at)
       select $1, s.activity - jsonb_array_length($2) + e.n, (e.v ->> 'id')::uuid, e.v ->> 'kind', e.v -> 'actor',
         (e.v ->> 'memberId')::uuid, (e.v ->> 'agentId')::uuid, (e.v ->> 'projectId')::uuid, (e.v ->> 'storyId')::uuid,
         e.v -> 'subject', '{"fields": ["title"]}', coalesce((e.v ->> 'at')::timestamptz, now())
       from s, jsonb_array_elements($2) with ordinality e (v, n)`,
      orgId,
      JSON.stringify(
        entries.map(({ kind = 'story.updated', by = ana, projectId = null, storyId = null, at }, index) => ({
          id: ids[index],
          kind,
          memberId: by.me.memberId,
          agentId: by.me.agentId,
          projectId,
          storyId,
          at,
          actor: {
            kind: by.me.agentId === null ? 'member' : 'agent',
            memberId: by.me.memberId,
            agentId: by.me.agentId,
            name: by.me.name,
          },
          subject: { type: 'story', id: storyId ?? newId(), key: 'WEB-1', title: 'Passkeys' },
        })),
      ),
    );
    return ids;
  }

  async function arrangeStory(key: string, visibility: 'org' | 'private', orgId = people().orgId) {
    const [projectId, storyId, columnId] = [newId(), newId(), newId()];
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $3, $4, 'hosted')`,
      orgId,
      projectId,
      key,
      visibility,
    );
    await world.rows(
      `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'Backlog', 'backlog', 0)`,
      orgId,
      columnId,
      projectId,
    );
    await world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
       values ($1, $2, $3, 7, 'Passkeys', 'backlog', $4, 'a0', '{}')`,
      orgId,
      storyId,
      projectId,
      columnId,
    );
    return { projectId, storyId };
  }

  return { happen, arrangeStory };
}
