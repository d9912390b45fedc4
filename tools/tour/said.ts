import { type ActivityItem, Comment, type EventKind, Story } from '@muster/registry';
import { z } from 'zod';
import { type Call, type Caller } from './journal.ts';

/** Something that must stand in the activity because a write was acknowledged. */
export interface Said {
  /** What it is recognized by. */
  readonly key: string;
  readonly call: Call;
}

/** The part of an event's data by which two of its kind about one subject by one actor are told apart. */
const telling: Partial<Record<string, readonly string[]>> = {
  'project.converted': ['localProjectId', 'epics', 'stories'],
  'story.created': ['status'],
  'story.statusChanged': ['to', 'columnId'],
  'story.reordered': ['columnId'],
  'spec.updated': ['version'],
  'spec.restored': ['version'],
  'comment.created': ['commentId', 'parentId', 'kind'],
  'comment.updated': ['commentId'],
  'comment.deleted': ['commentId'],
  'comment.reacted': ['commentId', 'emoji', 'on'],
  'comment.resolved': ['commentId'],
  'column.archived': ['movedStories'],
};

const keyOf = (
  kind: string,
  subjectId: string,
  actorId: string | null,
  data: Record<string, unknown>,
): string => JSON.stringify([kind, subjectId, actorId, ...(telling[kind] ?? []).map((field) => data[field])]);

export const keyOfItem = ({ kind, subject, actor, data }: ActivityItem): string =>
  keyOf(kind, subject.id, actor.agentId ?? actor.memberId, data);

const actorOf = ({ agentId, memberId }: Caller): string => agentId ?? memberId;

const WithStory = z.object({ story: Story });
const WithComment = z.object({ comment: Comment });
const WithSpec = z.object({ spec: z.object({ storyId: z.string(), version: z.int() }) });
const WithColumn = z.object({ column: z.object({ id: z.string() }), movedStories: z.int().optional() });
const WithEpic = z.object({ epic: z.object({ id: z.string() }) });
const Ids = z.record(z.string(), z.string());
const Converted = z.object({
  project: z.object({ id: z.string() }),
  mapping: z.object({ epics: Ids, stories: Ids }),
});

type Event = readonly [
  kind: EventKind,
  subjectId: string,
  data: Record<string, unknown>,
  actorId?: string | null,
];

/** What the writes must have said, each once: derived from the calls and their answers alone. */
export function saidBy(writes: readonly Call[]): Said[] {
  const commentStories = new Map<string, string>();
  /** Of what is said once though several were told of it: an id and the version they all saw. */
  const once = new Set<string>();
  const isFirst = (mark: string): boolean => {
    const known = once.has(mark);
    once.add(mark);
    return !known;
  };

  const eventsOf = (call: Call): Event[] => {
    const { params, result, known } = call;
    switch (call.operation.name) {
      case 'projects.convertLocal': {
        const { project, mapping } = Converted.parse(result);
        if (!isFirst(project.id)) return [];
        const [epics, stories] = [mapping.epics, mapping.stories].map((ids) => Object.keys(ids).length);
        const { localProjectId } = params;
        return [['project.converted', project.id, { localProjectId, epics, stories }]];
      }
      case 'stories.create': {
        const { story } = WithStory.parse(result);
        const created: Event = ['story.created', story.id, { status: story.status }];
        return story.specVersion === 0 ? [created] : [created, ['spec.updated', story.id, { version: 1 }]];
      }
      case 'stories.update': {
        const { story } = WithStory.parse(result);
        return story.version === known?.version ? [] : [['story.updated', story.id, {}]];
      }
      case 'stories.updateStatus':
      case 'stories.reorder': {
        const { story } = WithStory.parse(result);
        if (story.version === known?.version) return [];
        if (story.status === known?.status)
          return [['story.reordered', story.id, { columnId: story.columnId }]];
        return [['story.statusChanged', story.id, { to: story.status, columnId: story.columnId }]];
      }
      case 'storySpec.update':
      case 'storySpec.restore': {
        const { storyId, version } = WithSpec.parse(result).spec;
        if (!isFirst(`${storyId} ${version}`)) return [];
        const kind = call.operation.name === 'storySpec.update' ? 'spec.updated' : 'spec.restored';
        return [[kind, storyId, { version }]];
      }
      case 'comments.create': {
        const { id, storyId, parentId, kind } = WithComment.parse(result).comment;
        commentStories.set(id, storyId);
        return [['comment.created', storyId, { commentId: id, parentId, kind }]];
      }
      case 'comments.update': {
        const { id, storyId } = WithComment.parse(result).comment;
        return [['comment.updated', storyId, { commentId: id }]];
      }
      case 'comments.delete': {
        const { commentId } = params;
        return [['comment.deleted', commentStories.get(String(commentId)) ?? '', { commentId }]];
      }
      case 'comments.react': {
        const { id, storyId } = WithComment.parse(result).comment;
        return [
          ['comment.reacted', storyId, { commentId: id, emoji: params['emoji'], on: params['on'] ?? true }],
        ];
      }
      case 'comments.resolve': {
        const { id, storyId, version, resolvedBy } = WithComment.parse(result).comment;
        if (!isFirst(`${id} ${version}`)) return [];
        return [
          [
            'comment.resolved',
            storyId,
            { commentId: id },
            resolvedBy?.agentId ?? resolvedBy?.memberId ?? null,
          ],
        ];
      }
      case 'boardColumns.create':
      case 'boardColumns.update':
      case 'boardColumns.archive': {
        const { column, movedStories } = WithColumn.parse(result);
        const kinds = {
          create: 'column.created',
          update: 'column.updated',
          archive: 'column.archived',
        } as const;
        const verb = z.enum(['create', 'update', 'archive']).parse(call.operation.name.split('.')[1]);
        return [[kinds[verb], column.id, { movedStories }]];
      }
      case 'boardColumns.reorder':
        return [['columns.reordered', String(params['projectId']), {}]];
      case 'epics.create':
        return [['epic.created', WithEpic.parse(result).epic.id, {}]];
      case 'epics.update':
        return [['epic.updated', WithEpic.parse(result).epic.id, {}]];
      case 'epics.delete':
        return [['epic.deleted', String(params['epicId']), {}]];
      default:
        throw new Error(`the tour does not know what ${call.operation.name} says`);
    }
  };

  return writes
    .toSorted((a, b) => a.answeredAt - b.answeredAt)
    .flatMap((call) =>
      eventsOf(call).map(([kind, subjectId, data, actorId = actorOf(call.caller)]) => ({
        key: keyOf(kind, subjectId, actorId, data),
        call,
      })),
    );
}
