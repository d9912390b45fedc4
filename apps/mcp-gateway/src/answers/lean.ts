/**
 * Shortens the API's answers for models. A lean answer is a part of the API's answer: each field is at the same
 * path, and fields that a model does not need are left out. Only times differ, which are relative to now, and
 * the blockers and parents of listed stories, which are named by their keys.
 */
import { type contextSections, type Operation } from '@muster/contract';
import { registry } from '@muster/registry';
import { type AnswerBody } from './answers.ts';
import { authoredFields } from './authored.ts';
import { relativeTime } from './relative-time.ts';

const isRecord = (value: unknown): value is AnswerBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The time now, to which the other times are relative. */
const currentTimeField = 'serverTime';

/** Fields whose content callers or other calls define. They are passed on unchanged. */
const unchangedFields: ReadonlySet<string> = new Set(['data', 'details', 'params', 'manifest', 'cut']);

/** Fields that only synchronization, boards or people's clients need. */
const internalFields: ReadonlySet<string> = new Set([
  ...['columnId', 'contentHash', 'diffHash', 'deviceId', 'bodyBytes'],
  ...['updatedAt', 'updatedBy', 'assignedBy', 'ttlSeconds', 'attempt', 'origin'],
]);

/** The answer is one level, a record or an item of a list in it the next one. */
const recordDepth = 1;

/** Returns true for an actor or a reviewer, whose name is enough for a model. */
const isPerson = (record: AnswerBody): boolean =>
  'name' in record && 'kind' in record && ('memberId' in record || 'agentId' in record);

/** Returns true for an event, whose `data` the product wrote itself. */
const isEvent = (record: AnswerBody): boolean => 'seq' in record && 'kind' in record;

const hasText = (record: AnswerBody, name: string): boolean => typeof record[name] === 'string';

/** Returns true if the record's other fields make the field unnecessary. */
function isRedundant(record: AnswerBody, name: string, depth: number): boolean {
  switch (name) {
    case 'id':
      return depth > recordDepth && (hasText(record, 'key') || hasText(record, 'handle'));
    case 'memberId':
    case 'agentId':
      return isPerson(record);
    case 'number':
    case 'rank':
      return hasText(record, 'key');
    case 'targetType':
      return record[name] === 'story';
    case 'targetId':
      return hasText(record, 'targetKey');
    case 'storyId':
      return hasText(record, 'key') || hasText(record, 'storyKey');
    case 'createdAt':
      // The time matters for texts that people write to each other, and where it is the only one.
      return 'updatedAt' in record && !('author' in record);
    default:
      return false;
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

class LeanForm {
  readonly #omitted: ReadonlySet<string>;
  readonly #nowMillis: number;

  constructor(omitted: ReadonlySet<string>, nowMillis: number) {
    this.#omitted = omitted;
    this.#nowMillis = nowMillis;
  }

  #value(name: string, value: unknown, depth: number): unknown {
    if (Array.isArray(value))
      return value.map((item: unknown) => this.#value(name, item, depth)).filter((item) => item !== null);
    if (isRecord(value)) return this.record(value, depth);
    return typeof value === 'string' && !authoredFields.has(name) && name !== currentTimeField
      ? relativeTime(value, this.#nowMillis)
      : value;
  }

  record(record: AnswerBody, depth: number): AnswerBody {
    return Object.fromEntries(
      Object.entries(record).flatMap(([name, given]) => {
        if (internalFields.has(name) || this.#omitted.has(name) || isRedundant(record, name, depth))
          return [];
        const isUnchanged = unchangedFields.has(name) && !isEvent(record);
        const value = isUnchanged ? given : this.#value(name, given, depth + 1);
        return isEmpty(value) ? [] : [[name, value]];
      }),
    );
  }

  /** Keeps the lists of an answer, even if they are empty, and its first field: null there means "none". */
  answer(answer: AnswerBody): AnswerBody {
    const lean = this.record(answer, 0);
    return Object.fromEntries(
      Object.entries(answer).flatMap(([name, given], index) => {
        if (Object.hasOwn(lean, name)) return [[name, lean[name]]];
        return Array.isArray(given) || (index === 0 && given === null) ? [[name, given]] : [];
      }),
    );
  }
}

const pick = (record: unknown, names: readonly string[]): unknown =>
  isRecord(record)
    ? Object.fromEntries(names.flatMap((name) => (name in record ? [[name, record[name]]] : [])))
    : record;

/** The fields that a model needs of each section of a story's context. Other sections are complete. */
const sectionFields: Readonly<Partial<Record<(typeof contextSections)[number], readonly string[]>>> = {
  epic: ['id', 'title', 'description', 'status', 'progress'],
  spec: ['version', 'author', 'importedFrom', 'note', 'content'],
  reviewers: ['reviewer', 'verdict', 'stale', 'importedFrom', 'note'],
  assignment: ['member', 'agent'],
  deliveryGroup: ['id', 'name', 'state', 'mergeStrategy', 'git', 'progress'],
  locks: ['resources', 'mode', 'holder', 'reason', 'expiresAt'],
  collisions: ['path', 'kind', 'holder'],
  prompts: ['slug', 'title', 'body', 'arguments', 'tags'],
  contracts: ['slug', 'version', 'kind', 'content', 'note'],
};

function leanContext(context: AnswerBody): AnswerBody {
  return Object.fromEntries(
    Object.entries(context).map(([name, section]) => {
      const fields = sectionFields[name as keyof typeof sectionFields];
      if (fields === undefined) return [name, section];
      return [name, Array.isArray(section) ? section.map((one) => pick(one, fields)) : pick(section, fields)];
    }),
  );
}

/** The fields of work that change while its holder works. The holder knows the others, or wrote them. */
const progressFields = [
  ...['id', 'state', 'phase', 'progress', 'lease', 'offer', 'waitingFor', 'outcome', 'failure'],
  ...['pullRequest', 'needsRework', 'rework', 'stopRequested', 'completedAt'],
];
/** Fields of an execution that only programs need. */
const programFields: ReadonlySet<string> = new Set(['projectId', 'lastEventSeq', 'specVersion', 'version']);
const leaseFields = ['epoch', 'expiresAt', 'renewBy'];
/** Values of an execution that say nothing. */
const isUnset = (value: unknown): boolean => value === false || value === 0;

/** Returns the execution as its holder needs it; without its checkpoint, if the holder has just written it. */
function heldExecution(execution: AnswerBody, isKnown: boolean): AnswerBody {
  const shown = Object.fromEntries(
    Object.entries(execution).filter(([name, value]) => !programFields.has(name) && !isUnset(value)),
  );
  const { checkpoint } = shown;
  const lease = isRecord(shown['lease']) && { lease: pick(shown['lease'], leaseFields) };
  if (!isKnown) return { ...shown, ...lease };
  return {
    ...(pick(shown, progressFields) as AnswerBody),
    ...lease,
    ...(isRecord(checkpoint) && { checkpoint: pick(checkpoint, ['seq']) }),
  };
}

/** Replaces the execution of an answer to its holder. `isKnown`: the call named the work by its leaseToken. */
const leanHeldWork = (answer: AnswerBody, isKnown: boolean): AnswerBody =>
  isRecord(answer['execution'])
    ? { ...answer, execution: heldExecution(answer['execution'], isKnown) }
    : answer;

/** A text of the caller's own that is longer is not repeated. */
const maxRepeatedChars = 200;

/** Leaves out long texts that the call itself contained, from the records of its answer. */
function dropRepeatedTexts(answer: AnswerBody, args: AnswerBody): AnswerBody {
  const isRepeated = (name: string, value: unknown): boolean =>
    typeof value === 'string' && value.length > maxRepeatedChars && args[name] === value;
  return Object.fromEntries(
    Object.entries(answer).map(([name, record]) => [
      name,
      isRecord(record)
        ? Object.fromEntries(Object.entries(record).filter(([field, value]) => !isRepeated(field, value)))
        : record,
    ]),
  );
}

/** Fields that only the story itself shows, not a list of stories. */
const fieldsOfWholeStory: ReadonlySet<string> = new Set(['epicId', 'createdBy', 'upstream']);

/** Returns the record without fields that are false or zero. */
const dropUnset = (record: unknown): unknown =>
  isRecord(record)
    ? Object.fromEntries(Object.entries(record).filter(([, value]) => !isUnset(value)))
    : record;

function leanListedStory(story: AnswerBody, keyById: ReadonlyMap<unknown, unknown>): AnswerBody {
  const { git, blockedBy, parentId, counts, execution } = story;
  const keyOf = (id: unknown): unknown => keyById.get(id) ?? id;
  const shown = Object.fromEntries(Object.entries(story).filter(([name]) => !fieldsOfWholeStory.has(name)));
  return {
    ...shown,
    ...(isRecord(git) && {
      git: {
        ...git,
        ...(isRecord(git['pullRequest']) && { pullRequest: pick(git['pullRequest'], ['number', 'state']) }),
      },
    }),
    ...(Array.isArray(blockedBy) && { blockedBy: blockedBy.map(keyOf) }),
    ...(parentId !== undefined && { parentId: keyOf(parentId) }),
    ...(isRecord(counts) && { counts: dropUnset(counts) }),
    ...(isRecord(execution) && { execution: dropUnset(execution) }),
  };
}

/** Shortens listed stories. Blockers and parents in the same list are named by their keys. */
function leanStories({ items, ...others }: AnswerBody): AnswerBody {
  const stories = Array.isArray(items) ? items.filter(isRecord) : [];
  const keyById = new Map(stories.map(({ id, key }) => [id, key]));
  return { items: stories.map((story) => leanListedStory(story, keyById)), ...others };
}

/** The shapes of single operations, by the operation's name. */
const shapes: Readonly<Record<string, (answer: AnswerBody) => AnswerBody>> = {
  [registry.session.identity.name]: ({ member, org, token, entitlement, ...others }) => ({
    member: pick(member, ['id', 'name', 'handle', 'role']),
    ...others,
    org: pick(org, ['id', 'slug', 'name']),
    token: pick(token, ['scopes', 'expiresAt', 'projectIds']),
    entitlement: pick(entitlement, ['plan', 'status']),
  }),
  [registry.stories.list.name]: leanStories,
  [registry.storyCollaboration.context.name]: leanContext,
};

/** Returns the lean form of an operation's answer to a call with these arguments. */
export function leanAnswer(
  { name, effect, target }: Pick<Operation, 'name' | 'effect' | 'target'>,
  args: AnswerBody,
  answer: AnswerBody,
  nowMillis = Date.now(),
): AnswerBody {
  // A call that names a project or a record in it knows the project of the answer, and possibly the story.
  const isNamed = (param: string): boolean => args[param] !== undefined;
  const known = new Set([
    ...(isNamed(target ?? 'projectId') ? ['projectId'] : []),
    ...(target === 'storyId' && isNamed(target) ? [target] : []),
  ]);
  const lean = new LeanForm(known, nowMillis).answer(answer);
  const shaped = shapes[name]?.(lean) ?? lean;
  const held = 'leaseToken' in args ? leanHeldWork(shaped, true) : shaped;
  return effect === 'write' ? dropRepeatedTexts(held, args) : held;
}

/** The fields that a holder needs of its own new lock and question. */
const ownRecordFields: Readonly<Record<string, readonly string[]>> = {
  lock: ['id', 'resources', 'mode', 'executionId', 'fencingToken', 'expiresAt'],
  comment: ['id', 'kind', 'directedTo'],
};

/** Returns the lean form of the answer of a tool that combines operations on one story. */
export function leanWork(args: AnswerBody, answer: AnswerBody, nowMillis = Date.now()): AnswerBody {
  const lean = new LeanForm(new Set(['projectId', 'storyId']), nowMillis).answer(answer);
  const held = leanHeldWork(lean, 'leaseToken' in args);
  return Object.fromEntries(
    Object.entries(held).map(([name, value]) => {
      if (name === 'context' && isRecord(value)) return [name, leanContext(value)];
      const fields = ownRecordFields[name];
      return [name, fields === undefined ? value : pick(value, fields)];
    }),
  );
}
