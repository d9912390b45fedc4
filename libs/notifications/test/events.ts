/**
 * Test helpers: emit events without calling their operations, and create a project with a story as their
 * subject.
 */
import { type Db, newId } from '@muster/driver';
import {
  type EventData,
  type EventKind,
  eventKinds,
  type NotificationKind,
  operation,
  selfAccess,
  type Subject,
} from '@muster/contract';
import { type Caller, handle, type Handler } from '@muster/runtime';
import { z } from 'zod';

/** An event that a test emits. */
export type EmittedEvent = {
  [Kind in EventKind]: { readonly kind: Kind; readonly subject: Subject; readonly data: EventData<Kind> };
}[EventKind];

const emitOperation = operation({
  name: 'events.say',
  effect: 'write',
  summary: 'Say what happened',
  description: `Nothing happens but what is said.`,
  access: selfAccess(),
  params: z.strictObject({}),
  result: z.object({}),
  emits: eventKinds,
  example: {},
});

/** Creates a handler that runs `also` and then emits the given events. */
export const createEmitHandler = (
  said: readonly EmittedEvent[],
  also: (what: { db: Db; caller: Caller }) => Promise<unknown> = () => Promise.resolve(),
): Handler =>
  handle(emitOperation, async ({ db, caller, access, emit }) => {
    await Promise.all([access(), also({ db, caller })]);
    for (const { kind, subject, data } of said) emit(kind, subject, data);
    return {};
  });

type Rows = { rows: <Row>(sql: string, ...parameters: unknown[]) => Promise<Row[]> };

export interface ArrangedStory {
  readonly projectId: string;
  readonly storyId: string;
  /** The story as the subject of an event. */
  readonly story: Subject;
  /** The project as the subject of an event. */
  readonly project: Subject;
}

/** Creates a project with one story, WEB-7, created by this member. */
export async function arrangeStory(
  { rows }: Rows,
  orgId: string,
  creatorId: string,
  { key = 'WEB', visibility = 'org' }: { key?: string; visibility?: 'org' | 'private' } = {},
): Promise<ArrangedStory> {
  const [projectId, storyId, columnId] = [newId(), newId(), newId()];
  await rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $4, $5, 'hosted')`,
    orgId,
    projectId,
    key,
    `Project ${key}`,
    visibility,
  );
  await rows(
    `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'Backlog', 'backlog', 0)`,
    orgId,
    columnId,
    projectId,
  );
  await rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     values ($1, $2, $3, 7, 'Passkeys', 'backlog', $4, 'a0', $5)`,
    orgId,
    storyId,
    projectId,
    columnId,
    JSON.stringify({ kind: 'member', memberId: creatorId, agentId: null, name: 'Whoever' }),
  );
  return {
    projectId,
    storyId,
    story: { type: 'story', id: storyId, key: `${key}-7`, title: 'Passkeys', projectId },
    project: { type: 'project', id: projectId, key, title: `Project ${key}`, projectId },
  };
}

/** Gives a member a role in a project by direct membership. */
export const arrangeRole = (
  { rows }: Rows,
  orgId: string,
  projectId: string,
  memberId: string,
  role: string,
) =>
  rows(
    'insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, $4)',
    orgId,
    projectId,
    memberId,
    role,
  );

/** Creates a team of these members. */
export async function arrangeTeam(
  { rows }: Rows,
  orgId: string,
  name: string,
  ...memberIds: string[]
): Promise<string> {
  const id = newId();
  await rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, id, name);
  await rows(
    `insert into team_members (org_id, team_id, member_id, role) select $1, $2, unnest($3::uuid[]), 'member'`,
    orgId,
    id,
    memberIds,
  );
  return id;
}

/** Lists the notifications in an organization with member, kind and title, by name and time. */
export const listNotifiedMembers = async (
  { rows }: Rows,
  orgId: string,
): Promise<[name: string, kind: NotificationKind, title: string][]> =>
  (
    await rows<{ name: string; kind: NotificationKind; title: string }>(
      `select m.name, n.kind, n.title from notifications n join members m on m.org_id = n.org_id and m.id = n.member_id
       where n.org_id = $1 order by m.name collate "C", n.id`,
      orgId,
    )
  ).map(({ name, kind, title }) => [name, kind, title]);

export const namesOf = (told: readonly (readonly [name: string, kind: string, ...unknown[]])[]): string[] =>
  told.map(([name, kind]) => `${name}: ${kind}`);
