/** The value types of parameters and records. Formats are checked here and nowhere else. */
import { z } from 'zod';

/** A canonical UUID in lower case. */
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const storyKeyPattern = /^[A-Za-z][A-Za-z0-9]{1,9}-[0-9]{1,25}$/;
/** Matches the number at the end of a story's key. */
const storyNumberPattern = /-[1-9][0-9]{0,8}$/;
const projectKeyPattern = /^[A-Za-z][A-Za-z0-9]{1,9}$/;

/** The kinds of records that parameters name by a handle or a slug. */
export type PersonKind = 'member' | 'agent' | 'actor';

export const isUuid = (text: string): boolean => uuidPattern.test(text);

export const Id = z
  .string()
  .regex(uuidPattern, 'must be a lower-case UUID')
  .meta({ format: 'uuid', description: 'A UUIDv7 in lower case' });

/** The URL of a story in the console, such as `https://muster.example.com/s/WEB-42?from=1`. */
const storyUrlPattern = /^https?:\/\/[^\s?#]+\/s\/([^\s/?#]+)\/?(?:[?#]\S*)?$/i;

/**
 * Extracts the id or key from a story reference as people write and copy it: ` WEB-42 `, `#WEB-42` or a
 * console URL.
 */
const normalizeStoryRef = (text: string): string => {
  const trimmed = text.trim();
  return storyUrlPattern.exec(trimmed)?.[1] ?? trimmed.replace(/^#/, '');
};

/**
 * A story's id or key, `WEB-42` in any case, also as `#WEB-42` or as its URL in the console. A key that no
 * story can have (`WEB-007`, twenty digits) is read as `WEB-0`, which never exists. So numbers that are too
 * large never reach the database.
 */
export const StoryRef = z
  .string()
  .overwrite(normalizeStoryRef)
  .refine((text) => uuidPattern.test(text) || storyKeyPattern.test(text), {
    error: 'must be a story id or a key such as WEB-42',
    abort: true,
  })
  .overwrite((text) =>
    uuidPattern.test(text) || storyNumberPattern.test(text) ? text : `${text.slice(0, text.indexOf('-'))}-0`,
  )
  .meta({
    description:
      "The story's id or key, such as WEB-42; #WEB-42 and the story's URL in the console are accepted too",
    maxLength: 2048,
    'x-muster-ref': 'story',
  });

/** A project's id or key, `WEB` in any case. */
export const ProjectRef = z
  .string()
  .refine(
    (text) => uuidPattern.test(text) || projectKeyPattern.test(text),
    'must be a project id or a key such as WEB',
  )
  .meta({
    description: "The project's id or its key, such as WEB",
    maxLength: 36,
    'x-muster-ref': 'project',
  });

/** A handle of a member or a slug of an agent, with or without the `@` of a mention. */
const handlePattern = /^@?[a-z0-9][a-z0-9-]{0,39}$/;
const uuidAnyCasePattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Creates the schema of a parameter that accepts an id or a name. The runtime replaces the name by the id
 * before the handler runs (libs/runtime/src/references.ts).
 */
const personParam = (kind: PersonKind, errorMessage: string, description: string) =>
  z
    .string()
    .overwrite((text) => (uuidAnyCasePattern.test(text) ? text : text.trim().toLowerCase()))
    .refine(
      (text) => uuidPattern.test(text) || (handlePattern.test(text) && !uuidAnyCasePattern.test(text)),
      errorMessage,
    )
    .meta({ description, maxLength: 41, 'x-muster-ref': kind });

/** A parameter that names a member by id or handle. */
export const MemberParam = personParam(
  'member',
  'must be a member id or a handle such as @ana',
  'Id or handle, such as @ana',
);

/** A parameter that names an agent by id or slug. */
export const AgentParam = personParam(
  'agent',
  'must be an agent id or a slug such as claude',
  'Id or slug, such as claude',
);

/** A parameter that names a member or an agent. If both have the name, it means the member. */
export const ActorParam = personParam(
  'actor',
  'must be an id, a handle or a slug such as @ana',
  'Id, handle or slug, such as @ana',
);

function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Compares the length in code points. `length`, in UTF-16 units, bounds it from both sides, so counting is
 * rarely necessary.
 */
const hasAtMostCodePoints = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && countCodePoints(text) <= max);

/** Returns true if the text can be stored and sent on: valid Unicode without NUL. */
export const isCleanText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const cleanTextSchema = () =>
  z.string().refine(isCleanText, { error: 'must be valid Unicode without NUL', abort: true });

const withLengthLimits = (schema: z.ZodString, max: number, min: number) =>
  schema
    .refine((value) => hasAtMostCodePoints(value, max), `must have at most ${max} characters`)
    .refine(
      (value) => value.length >= min,
      min === 1 ? 'must not be empty' : `must have at least ${min} characters`,
    )
    .meta({ maxLength: max, ...(min > 0 && { minLength: min }) });

/** A text of `min` to `max` code points. */
export const boundedText = (max: number, min = 0) => withLengthLimits(cleanTextSchema(), max, min);

/** Converts line ends to line feeds, so that the line ends of an editor do not count as a change. */
export const normalizeLineFeeds = (value: string): string => value.replace(/\r\n?/g, '\n');

/** A text of several lines, such as a description. Line ends are converted to line feeds. */
export const multilineText = (max: number, min = 0) =>
  withLengthLimits(cleanTextSchema().overwrite(normalizeLineFeeds), max, min);

/** A text of at most `max` bytes in UTF-8. */
export const textWithinBytes = (maxBytes: number) =>
  cleanTextSchema()
    .refine(
      (value) => value.length * 3 <= maxBytes || new TextEncoder().encode(value).length <= maxBytes,
      `must have at most ${maxBytes} bytes`,
    )
    .meta({ maxLength: maxBytes });

// Excludes letters and symbols that are rendered as nothing: the Hangul fillers and the empty Braille cell.
const visibleCharacterPattern = /[[\p{L}\p{N}\p{P}\p{S}]--[\u115f\u1160\u2800\u3164\uffa0]]/v;

/** Returns true if the text has a visible character: a letter, digit, punctuation mark or symbol. */
export const hasVisibleCharacter = (value: string): boolean => visibleCharacterPattern.test(value);

/** The characters that are invisible or change the text direction, without joiners. */
const invisibleCharacters =
  /[\p{Default_Ignorable_Code_Point}--[\u{200c}\u{200d}\u{180b}-\u{180f}\u{fe00}-\u{fe0f}\u{e0020}-\u{e007f}\u{e0100}-\u{e01ef}]]/gv;
/**
 * Matches joiners and variation selectors that have no effect: after an ASCII character (except in keycaps),
 * before an ASCII character, or at the end.
 */
const uselessJoiners =
  /(?<=^|\p{ASCII})(?!\u{fe0f}\u{20e3})\p{Default_Ignorable_Code_Point}+|[\u{200c}\u{200d}]+(?=\p{ASCII}|$)/gv;

/** Normalizes a name for storage, so that names that look the same are the same. */
const normalizeName = (value: string): string =>
  value.normalize('NFC').replace(invisibleCharacters, '').replace(uselessJoiners, '').normalize('NFC').trim();

/**
 * A name or title: NFC, no line breaks, no invisible characters, not blank. The normalized text must fit,
 * because NFC makes some texts longer.
 */
export const nameText = (max: number) =>
  withLengthLimits(cleanTextSchema().overwrite(normalizeName), max, 1)
    // Names are shown on one line in lists, logs and mail headers.
    .refine((value) => !/[\u0001-\u001f\u007f\u2028\u2029]/.test(value), 'must not have control characters')
    .refine((value) => value === '' || hasVisibleCharacter(value), 'must have a visible character');

/** A JSON object of at most `max` bytes as text. Its strings were already checked when the body was read. */
export const jsonObject = (maxBytes: number) =>
  z
    .record(z.string(), z.unknown())
    .refine(
      (data) => new TextEncoder().encode(JSON.stringify(data)).length <= maxBytes,
      `must have at most ${maxBytes} bytes as JSON`,
    );

/** A search text, normalized to NFC like names. It is matched literally, and upper and lower case are equal. */
export const SearchText = boundedText(200, 1)
  .overwrite((value) => value.normalize('NFC'))
  .meta({ description: 'Text to search for; case does not matter' });

const rfc3339Pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const calendarDatePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const earliestTimeMillis = Date.UTC(1970, 0, 1);
const latestTimeMillis = Date.UTC(2200, 0, 1);

/** Compares the text with the parsed date, because Date.parse reads 30 February as a day in March. */
function isCalendarDate(value: string): boolean {
  if (!calendarDatePattern.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return (
    time >= earliestTimeMillis && time < latestTimeMillis && new Date(time).toISOString().startsWith(value)
  );
}

/** A time in a parameter: RFC 3339 between 1970 and 2200. The text is converted to UTC with milliseconds. */
export const Instant = z
  .string()
  .refine(
    (value) => {
      if (!rfc3339Pattern.test(value) || !isCalendarDate(value.slice(0, 10))) return false;
      const time = Date.parse(value);
      return time >= earliestTimeMillis && time < latestTimeMillis;
    },
    { error: 'must be an RFC 3339 time between 1970 and 2200', abort: true },
  )
  .overwrite((value) => new Date(value).toISOString())
  .meta({ format: 'date-time' });

/** A time in an answer: ISO 8601 in UTC with milliseconds. */
export const Time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: 'date-time' });

/** A calendar day, such as `2026-11-21`. */
export const Day = z
  .string()
  .refine(isCalendarDate, 'must be a date such as 2026-11-21')
  .meta({ format: 'date' });

/**
 * The version of a record. It starts at 1 and increases with each change. Sent as `expectedVersion`, it makes
 * an edit conditional.
 */
export const Version = z.int().min(1).max(2_147_483_647);
/** The fields that every record has at its end. */
export const recordStamps = { createdAt: Time, updatedAt: Time, version: Version };

export const ExpectedVersion = Version.optional().meta({
  description:
    'The version that you read; if the record has changed since, the call fails with 409 version_mismatch',
});

/** An http or https URL of at most 2,048 characters. */
export const Url = z
  .string()
  .max(2048)
  .refine(
    (value) => /^https?:\/\//i.test(value) && isCleanText(value) && URL.canParse(value),
    'must be an http(s) URL',
  )
  .meta({ format: 'uri' });

const scpUrlPattern = /^(?:[^\s@/:]+@)([^\s:/]+):(?!\/)(\S+?)(?:\.git)?$/;

/**
 * The URL of a repository. `git@host:owner/name.git` is accepted too and converted to the URL of its page.
 */
export const RepositoryUrl = z
  .string()
  .max(2048)
  .overwrite((value) => value.trim().replace(scpUrlPattern, 'https://$1/$2'))
  .refine(
    (value) => /^https?:\/\//i.test(value) && isCleanText(value) && URL.canParse(value),
    'must be an http(s) URL, or git@host:owner/name.git',
  )
  .meta({ description: 'A URL, or git@host:owner/name.git' });

export const Deleted = z.object({ deleted: z.literal(true) });
