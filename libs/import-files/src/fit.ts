/**
 * Fits an item to the limits of the API schema. Parts that do not fit are stored in another field or reported.
 */
import { EmailAddress, ImportItem, type Priority, hasVisibleCharacter, Touches } from '@muster/contract';
import { type ImportDraft, type DraftComment, type ImportEntry, type FileItem } from './draft.ts';
import { type FindStatusTarget } from './statuses.ts';
import { type DateOrder, parseTime } from './times.ts';

/** The limits of the API schema, which counts code points, not UTF-16 units. */
const contractLimits = {
  ...{ id: 255, title: 300, description: 20_000, body: 20_000, label: 50, labels: 20 },
  ...{ blockedBy: 100, touches: 50, authorName: 120, specBytes: 256 * 1024 },
};

const priorityWords: Readonly<Record<Priority, readonly string[]>> = {
  urgent: ['urgent', 'highest', 'critical', 'blocker', 'p0', '1'],
  high: ['high', 'major', 'p1', '2'],
  medium: ['medium', 'normal', 'moderate', 'p2', '3'],
  low: ['low', 'lowest', 'minor', 'trivial', 'p3', 'p4', '4'],
  none: ['none', 'no priority', '0'],
};

export interface ConversionOptions {
  readonly findStatusTarget: FindStatusTarget;
  readonly dateOrder?: DateOrder | undefined;
  /** Addresses of people whom the file identifies by name only. Keys are names in lower case. */
  readonly emailsByName?: ReadonlyMap<string, string>;
  /** Called for each mention of a person whom the file identifies by name only. */
  readonly onPersonName?: (name: string) => void;
}

const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === '';

/** Returns valid Unicode with line breaks as `\n`. */
const normalizeText = (text: string): string =>
  text.toWellFormed().replaceAll('\0', '').replaceAll('\r\n', '\n').replaceAll('\r', '\n');

/** Returns the text on one line, as required for names. */
const toSingleLine = (text: string): string =>
  normalizeText(text)
    .normalize('NFC')
    .replaceAll(/[\u0001-\u001f\u007f\u2028\u2029]+/g, ' ')
    .trim();

/** Counts code points, as the API schema does. */
const countCodePoints = (text: string): number => Array.from(text).length;

function truncateText(text: string, maxCodePoints: number): string {
  if (text.length <= maxCodePoints) return text;
  const letters = Array.from(text);
  return letters.length <= maxCodePoints ? text : `${letters.slice(0, maxCodePoints - 1).join('')}…`;
}

const utf8ByteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Splits the text into pieces of at most this number of code points. */
function splitIntoPieces(text: string, maxCodePoints: number): string[] {
  if (text.length <= maxCodePoints) return [text];
  const letters = Array.from(text);
  return Array.from({ length: Math.ceil(letters.length / maxCodePoints) }, (_, at) =>
    letters.slice(at * maxCodePoints, (at + 1) * maxCodePoints).join(''),
  ).filter(hasVisibleCharacter);
}

const parsePriority = (text: string): Priority | undefined =>
  (Object.keys(priorityWords) as Priority[]).find((priority) =>
    priorityWords[priority].includes(text.trim().toLowerCase()),
  );

const isEmail = (text: string): boolean => EmailAddress.safeParse(text).success;

/** Parses a number. `1,000.5` has commas between thousands; any other comma is a decimal mark. */
const parseNumber = (text: string): number =>
  Number(/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text.replace(',', '.'));

/**
 * Collects the parts of an item that fit the API schema, and notes about the parts that could not be stored.
 */
class ItemFitter {
  readonly notes: string[];
  readonly #draft: ImportDraft;
  readonly #fitting: ConversionOptions;

  constructor(draft: ImportDraft, fitting: ConversionOptions) {
    this.#draft = draft;
    this.#fitting = fitting;
    this.notes = [...(draft.unimportedFields ?? [])];
  }

  time(what: string, text: string | undefined): string | undefined {
    if (text === undefined || text.trim() === '') return undefined;
    const time = parseTime(text, this.#fitting.dateOrder);
    if (time === undefined) this.notes.push(`${what} that is not a valid time`);
    return time;
  }

  findEmail(person: string): string | undefined {
    if (isBlank(person)) return undefined;
    if (isEmail(person)) return person;
    this.#fitting.onPersonName?.(toSingleLine(person));
    return this.#fitting.emailsByName?.get(person.trim().toLowerCase());
  }

  assignee(): string | undefined {
    const people = (this.#draft.assignees ?? []).filter((person) => !isBlank(person));
    const emails = people.flatMap((person) => this.findEmail(person) ?? []);
    if (people.length > 0 && emails.length === 0) this.notes.push('assignee without an e-mail address');
    if (people.length > 1) this.notes.push('additional assignees');
    return emails[0];
  }

  labels(): string[] {
    const wanted = [...new Set((this.#draft.labels ?? []).map(toSingleLine))].filter(hasVisibleCharacter);
    const labels = wanted.filter((label) => countCodePoints(label) <= contractLimits.label);
    if (labels.length < wanted.length)
      this.notes.push(`label longer than ${contractLimits.label} characters`);
    if (labels.length > contractLimits.labels)
      this.notes.push(`labels after the first ${contractLimits.labels}`);
    return labels.slice(0, contractLimits.labels);
  }

  estimate(): number | undefined {
    const { estimate } = this.#draft;
    if (estimate === undefined || estimate === '') return undefined;
    const number = typeof estimate === 'number' ? estimate : parseNumber(estimate);
    if (Number.isFinite(number) && number >= 0 && number <= 10_000) return number;
    this.notes.push('estimate that is not a number from 0 to 10,000');
    return undefined;
  }

  priority(): Priority | undefined {
    const { priority } = this.#draft;
    if (priority === undefined || priority.trim() === '') return undefined;
    const known = parsePriority(priority);
    if (known === undefined) this.notes.push(`priority "${truncateText(toSingleLine(priority), 40)}"`);
    return known;
  }

  fitBlockers(externalId: string): string[] {
    const others = [...new Set(this.#draft.blockedBy ?? [])].filter(
      (other) => other !== externalId && other !== '' && countCodePoints(other) <= contractLimits.id,
    );
    if (others.length > contractLimits.blockedBy)
      this.notes.push(`blockers after the first ${contractLimits.blockedBy}`);
    return others.slice(0, contractLimits.blockedBy);
  }

  /** Returns the parent unless it cannot be the id of another item. */
  fitParent(externalId: string): string | undefined {
    const { parent = '' } = this.#draft;
    const isOther = parent !== '' && parent !== externalId;
    return isOther && countCodePoints(parent) <= contractLimits.id ? parent : undefined;
  }

  touches(): readonly string[] | undefined {
    const { touches = [] } = this.#draft;
    const valid = touches.filter((one) => Touches.safeParse([one]).success);
    if (valid.length < touches.length) this.notes.push('touched file that is not a path or glob');
    if (valid.length > contractLimits.touches)
      this.notes.push(`touched files after the first ${contractLimits.touches}`);
    return valid.length === 0 ? undefined : valid.slice(0, contractLimits.touches);
  }

  /** Moves a description that is too long to the spec, and a title that is too long to the description. */
  fitTexts(title: string): { description: string; spec: string } {
    const own = normalizeText(this.#draft.description ?? '');
    const isLongTitle = countCodePoints(title) > contractLimits.title;
    if (isLongTitle)
      this.notes.push(`title longer than ${contractLimits.title} characters (full text in the description)`);
    const description = isLongTitle ? [title, own].filter((text) => text !== '').join('\n\n') : own;
    const spec = normalizeText(this.#draft.spec ?? '');
    if (countCodePoints(description) <= contractLimits.description)
      return { description, spec: this.#spec(spec) };
    this.notes.push(
      `description longer than ${contractLimits.description} characters (full text in the spec)`,
    );
    return {
      description: `${truncateText(description, 1000)}\n\n(The full text is in the spec.)`,
      spec: this.#spec([description, spec].filter((text) => text !== '').join('\n\n')),
    };
  }

  #spec(text: string): string {
    if (utf8ByteLength(text) <= contractLimits.specBytes) return text;
    this.notes.push('spec larger than 256 KiB');
    const bytes = new TextEncoder().encode(text).subarray(0, contractLimits.specBytes);
    // Drop a UTF-8 sequence that was cut at the limit.
    return new TextDecoder().decode(bytes, { stream: true });
  }

  comments(createdAt: string | undefined): FileItem['comments'] {
    const counts = new Map<string, number>();
    return (this.#draft.comments ?? []).flatMap((comment) => {
      const body = normalizeText(comment.body);
      if (!hasVisibleCharacter(body)) {
        this.notes.push('comment without text');
        return [];
      }
      const at = this.time("comment's creation time", comment.at) ?? createdAt;
      if (at === undefined) {
        this.notes.push('comment without a time');
        return [];
      }
      return this.#comment(comment, body, at, counts);
    });
  }

  #comment(
    comment: DraftComment,
    body: string,
    at: string,
    counts: Map<string, number>,
  ): FileItem['comments'] {
    const { author = '', parent } = comment;
    const name = truncateText(toSingleLine(author), contractLimits.authorName);
    const email = isBlank(comment.email) ? this.findEmail(author) : comment.email;
    // Without an id of the tracker, author and time identify a comment, so that an edited comment is
    // recognized.
    const stem = comment.externalId ?? `${at} ${name}`;
    const copy = (counts.get(stem) ?? 0) + 1;
    counts.set(stem, copy);
    const externalId = truncateText(copy === 1 ? stem : `${stem} #${copy}`, contractLimits.id);
    return splitIntoPieces(body, contractLimits.body).map((piece, index) => ({
      externalId: index === 0 ? externalId : truncateText(`${externalId}/${index + 1}`, contractLimits.id),
      authorName: hasVisibleCharacter(name) ? name : 'Unknown',
      ...(email !== undefined && isEmail(email) && { authorEmail: email }),
      body: piece,
      at: new Date(Date.parse(at) + index).toISOString(),
      ...(parent !== undefined && { parent }),
    }));
  }
}

/** Returns the title, or the id of its record if the title has no visible character. */
const toVisibleTitle = (title: string, id: string): string =>
  title === '' || hasVisibleCharacter(title) ? title : toSingleLine(id);

/** Builds the item, with fields in the order of the contract and without empty fields. */
function buildItem(
  draft: ImportDraft,
  externalId: string,
  title: string,
  fitter: ItemFitter,
  boardPlace: object,
): FileItem {
  const { description, spec } = fitter.fitTexts(title);
  const createdAt = fitter.time('creation time', draft.createdAt);
  const updatedAt = fitter.time('time of the last change', draft.updatedAt);
  const [priority, estimate, assigneeEmail] = [fitter.priority(), fitter.estimate(), fitter.assignee()];
  const [labels, blockedBy] = [fitter.labels(), fitter.fitBlockers(externalId)];
  const dueDate = fitter.time('due date', draft.dueDate)?.slice(0, 10);
  const [touches, parent] = [fitter.touches(), fitter.fitParent(externalId)];
  const epicTitle = truncateText(
    toVisibleTitle(toSingleLine(draft.epic?.title ?? ''), draft.epic?.externalId ?? ''),
    contractLimits.title,
  );
  const epicDue = fitter.time('due date of an epic', draft.epic?.targetDate)?.slice(0, 10);
  const url = isBlank(draft.url) ? undefined : draft.url;
  const isUrl = url !== undefined && ImportItem.shape.url.safeParse(url).success;
  if (url !== undefined && !isUrl) fitter.notes.push('invalid web address');
  return {
    externalId,
    ...(isUrl && { url }),
    title: truncateText(title, contractLimits.title),
    description,
    ...(spec !== '' && { spec }),
    ...boardPlace,
    ...(priority !== undefined && { priority }),
    labels,
    ...(estimate !== undefined && { estimate }),
    ...(dueDate !== undefined && { dueDate }),
    ...(touches !== undefined && { touches: [...touches] }),
    ...(parent !== undefined && { parent }),
    ...(draft.epic !== undefined &&
      epicTitle !== '' && {
        epic: {
          ...{ externalId: truncateText(draft.epic.externalId, contractLimits.id), title: epicTitle },
          ...(epicDue !== undefined && { targetDate: epicDue }),
        },
      }),
    ...(blockedBy.length > 0 && { blockedBy }),
    ...(assigneeEmail !== undefined && { assigneeEmail }),
    ...(createdAt !== undefined && { createdAt }),
    ...(updatedAt !== undefined && { updatedAt }),
    comments: fitter.comments(createdAt ?? updatedAt),
  };
}

/** Fits a draft with a known id. Throws UnreadableFileError if one of its times is ambiguous. */
export function toImportEntry(
  draft: ImportDraft,
  externalId: string,
  options: ConversionOptions,
): ImportEntry {
  const { place } = draft;
  const refused = (why: string): ImportEntry => ({ kind: 'refused', place, why, refusedPart: 'item' });
  const title = toVisibleTitle(toSingleLine(draft.title), externalId);
  if (title === '') return refused('title: must not be empty');
  if (countCodePoints(externalId) > contractLimits.id)
    return refused(`its id is longer than ${contractLimits.id} characters`);
  const { status: name, statusIs: is, statusHint } = draft;
  const found =
    name === undefined ? undefined : options.findStatusTarget({ name, trackerStatus: is, statusHint });
  if (name !== undefined && found === undefined) {
    const why = `no column on the board for the status "${truncateText(toSingleLine(name), 80)}"`;
    return { kind: 'refused', place, why, refusedPart: 'status' };
  }
  const fitted = new ItemFitter(draft, options);
  const item = buildItem(draft, externalId, title, fitted, found ?? {});
  // The values were already fitted to the API schema, so an item that still violates it shows a bug in this
  // library. Only that item is rejected.
  const parsed = ImportItem.safeParse({ ...item, comments: [] });
  if (!parsed.success) {
    const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
    return refused(`${path.join('.')}: ${message}`);
  }
  return { kind: 'item', place, item, notes: fitted.notes };
}
