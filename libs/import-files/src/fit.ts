/**
 * Fits an item to the limits of the contract. Parts that do not fit are stored in another field or reported.
 */
import { EmailAddress, ImportItem, type Priority, saysAnything } from '@muster/registry';
import { type ImportDraft, type DraftComment, type ImportEntry, type FileItem } from './draft.ts';
import { type FindPlace } from './statuses.ts';
import { type DateOrder, instantOf } from './times.ts';

/** The limits of the contract, which counts code points, not UTF-16 units. */
const limits = {
  ...{ id: 255, title: 300, description: 20_000, body: 20_000, label: 50, labels: 20 },
  ...{ blockedBy: 100, authorName: 120, specBytes: 256 * 1024 },
};

const priorityWords: Readonly<Record<Priority, readonly string[]>> = {
  urgent: ['urgent', 'highest', 'critical', 'blocker', 'p0', '1'],
  high: ['high', 'major', 'p1', '2'],
  medium: ['medium', 'normal', 'moderate', 'p2', '3'],
  low: ['low', 'lowest', 'minor', 'trivial', 'p3', 'p4', '4'],
  none: ['none', 'no priority', '0'],
};

export interface Fitting {
  readonly placeOf: FindPlace;
  readonly dates?: DateOrder | undefined;
  /** Addresses of people whom the file identifies by name only. Keys are names in lower case. */
  readonly people?: ReadonlyMap<string, string>;
  /** Called for each mention of a person whom the file identifies by name only. */
  readonly onPerson?: (name: string) => void;
}

const isNothing = (text: string | undefined): boolean => text === undefined || text.trim() === '';

/** Returns valid Unicode with line breaks as `\n`. */
const clean = (text: string): string =>
  text.toWellFormed().replaceAll('\0', '').replaceAll('\r\n', '\n').replaceAll('\r', '\n');

/** Returns the text on one line, as required for names. */
const oneLine = (text: string): string =>
  clean(text)
    .normalize('NFC')
    .replaceAll(/[\u0001-\u001f\u007f\u2028\u2029]+/g, ' ')
    .trim();

/** Counts code points, as the contract does. */
const countOf = (text: string): number => Array.from(text).length;

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Splits the text into pieces of at most this number of code points. */
function pieces(text: string, most: number): string[] {
  if (text.length <= most) return [text];
  const letters = Array.from(text);
  return Array.from({ length: Math.ceil(letters.length / most) }, (_, at) =>
    letters.slice(at * most, (at + 1) * most).join(''),
  ).filter(saysAnything);
}

const priorityOf = (text: string): Priority | undefined =>
  (Object.keys(priorityWords) as Priority[]).find((priority) =>
    priorityWords[priority].includes(text.trim().toLowerCase()),
  );

const isEmail = (text: string): boolean => EmailAddress.safeParse(text).success;

/** Parses a number. `1,000.5` has commas between thousands; any other comma is a decimal mark. */
const numberOf = (text: string): number =>
  Number(/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text.replace(',', '.'));

/**
 * Collects the parts of an item that fit the contract, and notes about the parts that could not be stored.
 */
class Fit {
  readonly notes: string[];
  readonly #draft: ImportDraft;
  readonly #fitting: Fitting;

  constructor(draft: ImportDraft, fitting: Fitting) {
    this.#draft = draft;
    this.#fitting = fitting;
    this.notes = [...(draft.leftOut ?? [])];
  }

  time(what: string, text: string | undefined): string | undefined {
    if (text === undefined || text.trim() === '') return undefined;
    const time = instantOf(text, this.#fitting.dates);
    if (time === undefined) this.notes.push(`${what} that is not a valid time`);
    return time;
  }

  emailOf(person: string): string | undefined {
    if (isNothing(person)) return undefined;
    if (isEmail(person)) return person;
    this.#fitting.onPerson?.(oneLine(person));
    return this.#fitting.people?.get(person.trim().toLowerCase());
  }

  assignee(): string | undefined {
    const people = (this.#draft.assignees ?? []).filter((person) => !isNothing(person));
    const emails = people.flatMap((person) => this.emailOf(person) ?? []);
    if (people.length > 0 && emails.length === 0) this.notes.push('assignee without an e-mail address');
    if (people.length > 1) this.notes.push('additional assignees');
    return emails[0];
  }

  labels(): string[] {
    const wanted = [...new Set((this.#draft.labels ?? []).map(oneLine))].filter(saysAnything);
    const labels = wanted.filter((label) => countOf(label) <= limits.label);
    if (labels.length < wanted.length) this.notes.push(`label longer than ${limits.label} characters`);
    if (labels.length > limits.labels) this.notes.push(`labels after the first ${limits.labels}`);
    return labels.slice(0, limits.labels);
  }

  estimate(): number | undefined {
    const { estimate } = this.#draft;
    if (estimate === undefined || estimate === '') return undefined;
    const number = typeof estimate === 'number' ? estimate : numberOf(estimate);
    if (Number.isFinite(number) && number >= 0 && number <= 10_000) return number;
    this.notes.push('estimate that is not a number from 0 to 10,000');
    return undefined;
  }

  priority(): Priority | undefined {
    const { priority } = this.#draft;
    if (priority === undefined || priority.trim() === '') return undefined;
    const known = priorityOf(priority);
    if (known === undefined) this.notes.push(`priority "${cut(oneLine(priority), 40)}"`);
    return known;
  }

  waits(externalId: string): string[] {
    const others = [...new Set(this.#draft.blockedBy ?? [])].filter(
      (other) => other !== externalId && other !== '' && countOf(other) <= limits.id,
    );
    if (others.length > limits.blockedBy) this.notes.push(`blockers after the first ${limits.blockedBy}`);
    return others.slice(0, limits.blockedBy);
  }

  /** Moves a description that is too long to the spec, and a title that is too long to the description. */
  texts(title: string): { description: string; spec: string } {
    const own = clean(this.#draft.description ?? '');
    const isLongTitle = countOf(title) > limits.title;
    if (isLongTitle)
      this.notes.push(`title longer than ${limits.title} characters (full text in the description)`);
    const description = isLongTitle ? [title, own].filter((text) => text !== '').join('\n\n') : own;
    const spec = clean(this.#draft.spec ?? '');
    if (countOf(description) <= limits.description) return { description, spec: this.#spec(spec) };
    this.notes.push(`description longer than ${limits.description} characters (full text in the spec)`);
    return {
      description: `${cut(description, 1000)}\n\n(The full text is in the spec.)`,
      spec: this.#spec([description, spec].filter((text) => text !== '').join('\n\n')),
    };
  }

  #spec(text: string): string {
    if (bytesOf(text) <= limits.specBytes) return text;
    this.notes.push('spec larger than 256 KiB');
    const bytes = new TextEncoder().encode(text).subarray(0, limits.specBytes);
    // Drop a UTF-8 sequence that was cut at the limit.
    return new TextDecoder().decode(bytes, { stream: true });
  }

  comments(createdAt: string | undefined): FileItem['comments'] {
    const counts = new Map<string, number>();
    return (this.#draft.comments ?? []).flatMap((comment) => {
      const body = clean(comment.body);
      if (!saysAnything(body)) {
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
    const name = cut(oneLine(author), limits.authorName);
    const email = isNothing(comment.email) ? this.emailOf(author) : comment.email;
    // Without an id of the tracker, author and time identify a comment, so that an edited comment is
    // recognized.
    const stem = comment.externalId ?? `${at} ${name}`;
    const copy = (counts.get(stem) ?? 0) + 1;
    counts.set(stem, copy);
    const externalId = cut(copy === 1 ? stem : `${stem} #${copy}`, limits.id);
    return pieces(body, limits.body).map((piece, index) => ({
      externalId: index === 0 ? externalId : cut(`${externalId}/${index + 1}`, limits.id),
      authorName: saysAnything(name) ? name : 'Unknown',
      ...(email !== undefined && isEmail(email) && { authorEmail: email }),
      body: piece,
      at: new Date(Date.parse(at) + index).toISOString(),
      ...(parent !== undefined && { parent }),
    }));
  }
}

/** Returns the title, or the id of its record if the title has no visible character. */
const seen = (title: string, id: string): string =>
  title === '' || saysAnything(title) ? title : oneLine(id);

/** Builds the item, with fields in the order of the contract and without empty fields. */
function itemOf(draft: ImportDraft, externalId: string, title: string, fit: Fit, place: object): FileItem {
  const { description, spec } = fit.texts(title);
  const createdAt = fit.time('creation time', draft.createdAt);
  const updatedAt = fit.time('time of the last change', draft.updatedAt);
  const [priority, estimate, assigneeEmail] = [fit.priority(), fit.estimate(), fit.assignee()];
  const [labels, blockedBy] = [fit.labels(), fit.waits(externalId)];
  const epicTitle = cut(seen(oneLine(draft.epic?.title ?? ''), draft.epic?.externalId ?? ''), limits.title);
  const epicDue = fit.time('due date of an epic', draft.epic?.targetDate)?.slice(0, 10);
  const url = isNothing(draft.url) ? undefined : draft.url;
  const isUrl = url !== undefined && ImportItem.shape.url.safeParse(url).success;
  if (url !== undefined && !isUrl) fit.notes.push('invalid web address');
  return {
    externalId,
    ...(isUrl && { url }),
    title: cut(title, limits.title),
    description,
    ...(spec !== '' && { spec }),
    ...place,
    ...(priority !== undefined && { priority }),
    labels,
    ...(estimate !== undefined && { estimate }),
    ...(draft.epic !== undefined &&
      epicTitle !== '' && {
        epic: {
          ...{ externalId: cut(draft.epic.externalId, limits.id), title: epicTitle },
          ...(epicDue !== undefined && { targetDate: epicDue }),
        },
      }),
    ...(blockedBy.length > 0 && { blockedBy }),
    ...(assigneeEmail !== undefined && { assigneeEmail }),
    ...(createdAt !== undefined && { createdAt }),
    ...(updatedAt !== undefined && { updatedAt }),
    comments: fit.comments(createdAt ?? updatedAt),
  };
}

/** Fits a draft with a known id. Throws NoImport if one of its times is ambiguous. */
export function fit(draft: ImportDraft, externalId: string, fitting: Fitting): ImportEntry {
  const { place } = draft;
  const refused = (why: string): ImportEntry => ({ kind: 'refused', place, why, for: 'item' });
  const title = seen(oneLine(draft.title), externalId);
  if (title === '') return refused('title: must not be empty');
  if (countOf(externalId) > limits.id) return refused(`its id is longer than ${limits.id} characters`);
  const { status: name, statusIs: is, statusHint: hint } = draft;
  const found = name === undefined ? undefined : fitting.placeOf({ name, is, hint });
  if (name !== undefined && found === undefined) {
    const why = `no column on the board for the status "${cut(oneLine(name), 80)}"`;
    return { kind: 'refused', place, why, for: 'status' };
  }
  const fitted = new Fit(draft, fitting);
  const item = itemOf(draft, externalId, title, fitted, found ?? {});
  // A remaining violation of the contract is a bug of this library. Only the item is rejected.
  const parsed = ImportItem.safeParse({ ...item, comments: [] });
  if (!parsed.success) {
    const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
    return refused(`${path.join('.')}: ${message}`);
  }
  return { kind: 'item', place, item, notes: fitted.notes };
}
