/** Reads the JSON of a Trello board. */
import { type StoryStatus } from '@muster/contract';
import { z } from 'zod';
import { type ImportDraft, type DraftComment, type OpenedFile, type ParsedItem } from '../draft.ts';
import { appendTo } from '../nesting.ts';
import { readJson, UnreadableFileError, type TextSource } from '../source.ts';
import { listUnreadFields, listUnreadFieldsOfPart } from '../unread.ts';

const Person = z.looseObject({
  id: z.string(),
  fullName: z.string().nullish(),
  username: z.string().nullish(),
});
const Card = z.looseObject({
  id: z.string(),
  name: z.string(),
  desc: z.string().nullish(),
  closed: z.boolean().nullish(),
  isTemplate: z.boolean().nullish(),
  /** True if the card is marked as complete. */
  dueComplete: z.boolean().nullish(),
  due: z.string().nullish(),
  idList: z.string(),
  pos: z.number().nullish(),
  idMembers: z.array(z.string()).nullish(),
  labels: z.array(z.looseObject({ name: z.string().nullish(), color: z.string().nullish() })).nullish(),
  shortUrl: z.string().nullish(),
  url: z.string().nullish(),
  dateLastActivity: z.string().nullish(),
});
type Card = z.infer<typeof Card>;
const Checklist = z.looseObject({
  idCard: z.string(),
  name: z.string(),
  pos: z.number().nullish(),
  checkItems: z
    .array(z.looseObject({ name: z.string(), state: z.string().nullish(), pos: z.number().nullish() }))
    .nullish(),
});
type Checklist = z.infer<typeof Checklist>;
const Action = z.looseObject({
  id: z.string(),
  type: z.string(),
  date: z.string(),
  memberCreator: Person.nullish(),
  data: z.looseObject({
    text: z.string().nullish(),
    card: z.looseObject({ id: z.string() }).nullish(),
  }),
});
type Action = z.infer<typeof Action>;
const Board = z.looseObject({
  name: z.string(),
  lists: z.array(
    z.looseObject({
      id: z.string(),
      name: z.string(),
      closed: z.boolean().nullish(),
      pos: z.number().nullish(),
    }),
  ),
  cards: z.array(Card),
  checklists: z.array(Checklist).nullish(),
  members: z.array(Person).nullish(),
  actions: z.array(Action).nullish(),
});
type Board = z.infer<typeof Board>;

/** The number of actions after which Trello's export ends. */
const maxExportedActions = 1000;

const knownCardFields = new Set([
  ...Object.keys(Card.shape),
  ...['idShort', 'idBoard', 'shortLink', 'badges', 'idLabels', 'idChecklists', 'checkItemStates', 'cover'],
  ...['subscribed', 'email', 'descData', 'limits', 'nodeId', 'manualCoverAttachment', 'idAttachmentCover'],
  ...['cardRole', 'creationMethod', 'mirrorSourceId', 'dueReminder', 'pinned', 'idOrganization'],
  ...['creationMethodError', 'creationMethodLoadingStartedAt', 'faviconUrl', 'isFullUrl', 'customFieldItems'],
  ...['type'],
]);

const knownCheckItemFields = new Set([
  ...['id', 'idChecklist', 'name', 'nameData', 'state', 'pos', 'type', 'limits', 'nodeId'],
  // A reminder has no meaning without the due date. The due date itself is reported as left out.
  'dueReminder',
]);

/** Lists the fields of checklist items that a task list cannot keep: due dates and members. */
const listUnimportedChecklistFields = ({ checkItems }: Checklist): string[] =>
  (checkItems ?? []).flatMap((item) => listUnreadFieldsOfPart('a check item', item, knownCheckItemFields));

const knownCommentFields = new Set([
  ...Object.keys(Action.shape),
  ...['idMemberCreator', 'appCreator', 'limits', 'display', 'entities', 'member', 'memberships'],
]);
const knownCommentDataFields = new Set([
  ...Object.keys(Action.shape.data.shape),
  ...['textData', 'board', 'list', 'cardSource', 'dateLastEdited'],
]);

/** Lists the fields of a comment that are not imported, such as its attachment and its reactions. */
const listUnimportedCommentFields = (action: Action): string[] => [
  ...listUnreadFieldsOfPart('a comment', action, knownCommentFields),
  ...listUnreadFieldsOfPart('a comment', action.data, knownCommentDataFields),
];

/** Names a card for people, by its address if it has no name. */
const describeCard = ({ id, name, shortUrl, url }: Card): string =>
  name.trim() === '' ? `card ${shortUrl ?? url ?? id}` : `card "${name.slice(0, 40)}"`;

const compareByPosition = (
  a: { pos?: number | null | undefined },
  b: { pos?: number | null | undefined },
): number => (a.pos ?? 0) - (b.pos ?? 0);

/** Formats a checklist as a Markdown task list. */
const formatTaskList = ({ name, checkItems }: Checklist): string =>
  [
    `## ${name.trim()}`,
    '',
    ...(checkItems ?? [])
      .toSorted(compareByPosition)
      .map((item) => `- [${item.state === 'complete' ? 'x' : ' '}] ${item.name.replaceAll(/\s+/g, ' ')}`),
  ].join('\n');

function groupBy<One>(items: readonly One[], getKey: (one: One) => string | undefined): Map<string, One[]> {
  const groups = new Map<string, One[]>();
  for (const one of items) {
    const key = getKey(one);
    if (key !== undefined) appendTo(groups, key, one);
  }
  return groups;
}

/** Returns the time of creation. The first eight digits of an id are that time in seconds. */
function getCreationTime(id: string): string | undefined {
  const seconds = /^[0-9a-f]{24}$/i.test(id) ? Number.parseInt(id.slice(0, 8), 16) : Number.NaN;
  return Number.isNaN(seconds) ? undefined : new Date(seconds * 1000).toISOString();
}

const doneWordPattern = /\b(done|complete[d]?|finished|shipped|released|closed)\b/i;

export async function openTrello(source: TextSource): Promise<OpenedFile> {
  const parsed = Board.safeParse(await readJson(source));
  if (!parsed.success)
    throw new UnreadableFileError(`the file is not a Trello board export:\n${z.prettifyError(parsed.error)}`);
  const board: Board = parsed.data;
  const lists = new Map(
    board.lists.toSorted(compareByPosition).map((list, place) => [list.id, { ...list, place }]),
  );
  const people = new Map((board.members ?? []).map((person) => [person.id, person]));
  const checklists = groupBy(board.checklists ?? [], ({ idCard }) => idCard);
  const actions = board.actions ?? [];
  const comments = groupBy(
    actions.filter(({ type }) => type === 'commentCard' || type === 'copyCommentCard'),
    ({ data }) => data.card?.id,
  );
  const nameOf = (id: string): string => people.get(id)?.fullName ?? people.get(id)?.username ?? id;

  function statusOf({ idList, closed, dueComplete }: Card): {
    status: string | undefined;
    statusHint?: StoryStatus;
    statusIs?: StoryStatus;
  } {
    const list = lists.get(idList);
    if (list === undefined) return { status: undefined };
    const isDone = doneWordPattern.test(list.name);
    if (closed === true || list.closed === true)
      return {
        status: `${list.name} (archived)`,
        statusIs: isDone || dueComplete === true ? 'done' : 'canceled',
      };
    if (isDone) return { status: list.name, statusHint: 'done' };
    return dueComplete === true
      ? { status: `${list.name} (complete)`, statusIs: 'done' }
      : { status: list.name };
  }
  const draftOf = (card: Card): ImportDraft => ({
    place: describeCard(card),
    externalId: card.id,
    url: card.shortUrl ?? card.url ?? undefined,
    title: card.name,
    description: card.desc ?? undefined,
    spec: (checklists.get(card.id) ?? []).toSorted(compareByPosition).map(formatTaskList).join('\n\n'),
    ...statusOf(card),
    labels: (card.labels ?? []).flatMap(({ name, color }) => [name || color || []].flat()),
    assignees: (card.idMembers ?? []).map(nameOf),
    createdAt: getCreationTime(card.id),
    updatedAt: card.dateLastActivity ?? undefined,
    dueDate: card.due ?? undefined,
    comments: (comments.get(card.id) ?? []).map(({ id, date, memberCreator, data }): DraftComment => ({
      externalId: id,
      author: memberCreator?.fullName ?? memberCreator?.username ?? undefined,
      body: data.text ?? '',
      at: date,
    })),
    unimportedFields: [
      ...listUnreadFields(card, knownCardFields),
      ...(checklists.get(card.id) ?? []).flatMap(listUnimportedChecklistFields),
      ...(comments.get(card.id) ?? []).flatMap(listUnimportedCommentFields),
      ...(Array.isArray(card['customFieldItems']) ? card['customFieldItems'].map(() => 'custom field') : []),
    ],
  });
  const placeOf = ({ idList }: Card): number => lists.get(idList)?.place ?? lists.size;
  return {
    notes:
      actions.length > 0 && actions.length % maxExportedActions === 0
        ? [
            `The file has ${actions.length.toLocaleString('en')} actions, the most that Trello exports; older comments may be missing.`,
          ]
        : [],
    async *read(): AsyncGenerator<ParsedItem> {
      for (const card of board.cards.toSorted((a, b) => placeOf(a) - placeOf(b) || compareByPosition(a, b))) {
        if (card.isTemplate === true) yield { place: describeCard(card), skipped: 'template' };
        else yield { draft: draftOf(card) };
      }
    },
  };
}
