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
const distinguishing: Partial<Record<string, readonly string[]>> = {
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
): string =>
  JSON.stringify([kind, subjectId, actorId, ...(distinguishing[kind] ?? []).map((field) => data[field])]);

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

/** What earlier writes were about. */
interface Before {
  /** The story of each comment. */
  readonly commentStories: Map<string, string>;
  /** Of what is said once though several were told of it: whether it is the first with this id and the version they all saw. */
  readonly isFirst: (mark: string) => boolean;
}

function startBefore(): Before {
  const marks = new Set<string>();
  return {
    commentStories: new Map(),
    isFirst: (mark) => {
      const known = marks.has(mark);
      marks.add(mark);
      return !known;
    },
  };
}

type EventsOf = (call: Call, before: Before) => Event[];

const ofConversion: EventsOf = ({ params, result }, { isFirst }) => {
  const { project, mapping } = Converted.parse(result);
  if (!isFirst(project.id)) return [];
  const [epics, stories] = [mapping.epics, mapping.stories].map((ids) => Object.keys(ids).length);
  const { localProjectId } = params;
  return [['project.converted', project.id, { localProjectId, epics, stories }]];
};

const ofNewStory: EventsOf = ({ result }) => {
  const { story } = WithStory.parse(result);
  const created: Event = ['story.created', story.id, { status: story.status }];
  return story.specVersion === 0 ? [created] : [created, ['spec.updated', story.id, { version: 1 }]];
};

const ofStory: EventsOf = ({ result, known }) => {
  const { story } = WithStory.parse(result);
  return story.version === known?.version ? [] : [['story.updated', story.id, {}]];
};

const ofPlace: EventsOf = ({ result, known }) => {
  const { story } = WithStory.parse(result);
  if (story.version === known?.version) return [];
  if (story.status === known?.status) return [['story.reordered', story.id, { columnId: story.columnId }]];
  return [['story.statusChanged', story.id, { to: story.status, columnId: story.columnId }]];
};

const ofSpec =
  (kind: EventKind): EventsOf =>
  ({ result }, { isFirst }) => {
    const { storyId, version } = WithSpec.parse(result).spec;
    return isFirst(`${storyId} ${version}`) ? [[kind, storyId, { version }]] : [];
  };

const ofNewComment: EventsOf = ({ result }, { commentStories }) => {
  const { id, storyId, parentId, kind } = WithComment.parse(result).comment;
  commentStories.set(id, storyId);
  return [['comment.created', storyId, { commentId: id, parentId, kind }]];
};

const ofComment: EventsOf = ({ result }) => {
  const { id, storyId } = WithComment.parse(result).comment;
  return [['comment.updated', storyId, { commentId: id }]];
};

const ofDeletedComment: EventsOf = ({ params: { commentId } }, { commentStories }) => [
  ['comment.deleted', commentStories.get(String(commentId)) ?? '', { commentId }],
];

const ofReaction: EventsOf = ({ params, result }) => {
  const { id, storyId } = WithComment.parse(result).comment;
  return [['comment.reacted', storyId, { commentId: id, emoji: params['emoji'], on: params['on'] ?? true }]];
};

const ofResolution: EventsOf = ({ result }, { isFirst }) => {
  const { id, storyId, version, resolvedBy } = WithComment.parse(result).comment;
  if (!isFirst(`${id} ${version}`)) return [];
  const actorId = resolvedBy?.agentId ?? resolvedBy?.memberId ?? null;
  return [['comment.resolved', storyId, { commentId: id }, actorId]];
};

const ofColumn =
  (kind: EventKind): EventsOf =>
  ({ result }) => {
    const { column, movedStories } = WithColumn.parse(result);
    return [[kind, column.id, { movedStories }]];
  };

const ofEpic =
  (kind: EventKind): EventsOf =>
  ({ result }) => [[kind, WithEpic.parse(result).epic.id, {}]];

const eventsOf: Readonly<Record<string, EventsOf>> = {
  'projects.convertLocal': ofConversion,
  'stories.create': ofNewStory,
  'stories.update': ofStory,
  'stories.updateStatus': ofPlace,
  'stories.reorder': ofPlace,
  'storySpec.update': ofSpec('spec.updated'),
  'storySpec.restore': ofSpec('spec.restored'),
  'comments.create': ofNewComment,
  'comments.update': ofComment,
  'comments.delete': ofDeletedComment,
  'comments.react': ofReaction,
  'comments.resolve': ofResolution,
  'boardColumns.create': ofColumn('column.created'),
  'boardColumns.update': ofColumn('column.updated'),
  'boardColumns.archive': ofColumn('column.archived'),
  'boardColumns.reorder': ({ params }) => [['columns.reordered', String(params['projectId']), {}]],
  'epics.create': ofEpic('epic.created'),
  'epics.update': ofEpic('epic.updated'),
  'epics.delete': ({ params }) => [['epic.deleted', String(params['epicId']), {}]],
};

/** What the writes must have said, each once: derived from the calls and their answers alone. */
export function saidBy(writes: readonly Call[]): Said[] {
  const before = startBefore();
  return writes
    .toSorted((a, b) => a.answeredAt - b.answeredAt)
    .flatMap((call) => {
      const { name } = call.operation;
      const events = eventsOf[name]?.(call, before);
      if (events === undefined) throw new Error(`the tour does not know what ${name} says`);
      return events.map(([kind, subjectId, data, actorId = actorOf(call.caller)]) => ({
        key: keyOf(kind, subjectId, actorId, data),
        call,
      }));
    });
}
