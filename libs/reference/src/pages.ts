/**
 * Builds the reference pages as Markdown: one for each namespace, and one each for records, errors and event
 * kinds.
 */
import {
  interfaceVersion,
  errorCodes,
  errorStatus,
  eventKinds,
  type Operation,
  type ErrorReason,
  reasons,
} from '@muster/contract';
import { operations } from '@muster/registry';
import { type ReferenceField, recordsOf, nonObjectRecordsOf } from './fields.ts';
import { anchorOf } from './anchors.ts';
import { namespaceGroups, namespaceDescriptionOf } from './groups.ts';
import {
  toOperationPage,
  examplesOf,
  type OperationPage,
  operationsByNamespace,
  type Refusal,
  refusalOf,
} from './operations.ts';

export interface ReferencePage {
  /** The path below the served address, without an extension: `reference/stories`. */
  readonly path: string;
  readonly title: string;
  /** The summary of the page in one sentence. */
  readonly summary: string;
  readonly markdown: string;
  /** The page's content as data, from which the Markdown is built. */
  readonly json: unknown;
}

type PageHead = Pick<ReferencePage, 'path' | 'title' | 'summary'>;
type PageContent = Pick<ReferencePage, 'markdown' | 'json'>;

/**
 * Creates a page that builds its content on first access. Building all pages takes longer than the start of a
 * server may.
 */
function lazyPage(head: PageHead, content: () => PageContent): ReferencePage {
  let made: PageContent | undefined;
  const get = (): PageContent => (made ??= content());
  return {
    ...head,
    get markdown() {
      return get().markdown;
    },
    get json() {
      return get().json;
    },
  };
}

/** Returns the path of a namespace's page. */
export const namespacePath = (namespace: string): string => `reference/${namespace}`;

const escapeTableCell = (value: string): string => value.replaceAll('|', '\\|').replaceAll('\n', ' ');
const inlineCode = (value: string): string => `\`${value.replaceAll('`', "'")}\``;
/** Joins blocks of Markdown. */
const joinBlocks = (...blocks: readonly string[]): string => `${blocks.join('\n\n')}\n`;

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeTableCell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const allEventKinds = eventKinds.map((kind) => JSON.stringify(kind)).join(' | ');

/**
 * Links a type to its record, which has a capitalized name. The event kinds, over a hundred, are linked to
 * their own page.
 */
const linkedType = (type: string): string => {
  if (type.includes(allEventKinds))
    return `[${inlineCode(type.replace(/\("[^()]*"\)/, 'kind'))}](event-kinds)`;
  const [name] = /\b[A-Z][A-Za-z]+\b/.exec(type) ?? [];
  return name === undefined || type.includes('"')
    ? inlineCode(type)
    : `[${inlineCode(type)}](records#${anchorOf(name)})`;
};

const paramsTable = (fields: readonly ReferenceField[]): string =>
  fields.length === 0
    ? 'None.'
    : markdownTable(
        ['Parameter', 'Type', 'Default', 'Meaning'],
        fields.map((field) => [
          inlineCode(field.name),
          linkedType(field.type),
          field.default === null ? (field.required ? '*required*' : '') : inlineCode(field.default),
          field.description,
        ]),
      );

const resultTable = (fields: readonly ReferenceField[]): string =>
  markdownTable(
    ['Field', 'Type', 'Meaning'],
    fields.map((field) => [inlineCode(field.name), linkedType(field.type), field.description]),
  );

const formatBytes = (count: number): string =>
  count >= 1024 * 1024 ? `${count / 1024 / 1024} MiB` : `${count / 1024} KiB`;

function operationSection(page: OperationPage): string {
  const refusals = page.refusals.map(({ reason, status, meaning }) => [
    `[${inlineCode(reason)}](errors#${anchorOf(reason)})`,
    status.toString(),
    meaning,
  ]);
  const parts = [
    `## ${page.name}`,
    `${page.summary}. ${page.description}`,
    `${inlineCode(`POST ${page.path}`)} · ${page.effect} · token scope ${inlineCode(page.scope)} · ${page.access} · body up to ${formatBytes(page.bodyLimit)}`,
    '### Parameters',
    paramsTable(page.params),
    '### Result',
    resultTable(page.result),
    ...(refusals.length > 0
      ? ['### Refusals', markdownTable(['Reason', 'Status', 'Meaning'], refusals)]
      : []),
    ...(page.events.length > 0 ? ['### Events', page.events.map(inlineCode).join(', ')] : []),
    '### Examples',
    ...examplesOf(page).map(
      (example) => `\`\`\`${example.language} [${example.title}]\n${example.code}\n\`\`\``,
    ),
    ...(page.answer === null ? [] : ['### Answer', `\`\`\`json\n${page.answer}\n\`\`\``]),
  ];
  return parts.join('\n\n');
}

function namespacePage(namespace: string, namespaceOperations: readonly Operation[]): ReferencePage {
  const summary = namespaceDescriptionOf(namespace);
  return lazyPage({ path: namespacePath(namespace), title: namespace, summary }, () => {
    const pages = namespaceOperations.map(toOperationPage);
    return {
      json: {
        namespace,
        operations: pages.map((one) => ({ ...one, answer: JSON.parse(one.answer ?? 'null') as unknown })),
      },
      markdown: joinBlocks(
        `# ${namespace}`,
        summary,
        pages.map((one) => `- [${inlineCode(one.name)}](#${anchorOf(one.name)}) ${one.summary}`).join('\n'),
        ...pages.map(operationSection),
      ),
    };
  });
}

const recordsPage = (): ReferencePage => {
  const summary = 'All records that responses contain, with their fields.';
  return lazyPage({ path: 'reference/records', title: 'Records', summary }, () => recordsContent(summary));
};

function recordsContent(summary: string): PageContent {
  const records = new Map<string, ReferenceField[]>();
  const simple = new Map<string, string>();
  for (const { result } of operations.values()) {
    for (const [name, fields] of recordsOf(result)) records.set(name, fields);
    for (const [name, type] of nonObjectRecordsOf(result)) simple.set(name, type);
  }
  const names = [...records.keys()].toSorted();
  const section = (name: string): string => {
    const type = simple.get(name);
    return `## ${name}\n\n${type === undefined ? resultTable(records.get(name) ?? []) : inlineCode(type)}`;
  };
  return {
    json: Object.fromEntries(names.map((name) => [name, simple.get(name) ?? records.get(name)])),
    markdown: joinBlocks('# Records', summary, ...names.map(section)),
  };
}

function errorsPage(): ReferencePage {
  const all = (Object.keys(reasons) as ErrorReason[])
    .map(refusalOf)
    .toSorted((a, b) => (a.reason < b.reason ? -1 : 1));
  const summary =
    'Every error has a code and a status; details.reason names the exact case. If details.retryAt is present, the same call can succeed from that time on, whatever the reason.';
  const section = ({ reason, code: ofCode, status, meaning, remedy, retryable }: Refusal): string =>
    [
      `## ${reason}`,
      `${meaning} ${inlineCode(ofCode)}, ${status}. ${retryable ? 'The same call can succeed later unchanged.' : 'The same call will not succeed unchanged.'}`,
      remedy,
    ].join('\n\n');
  const codes = markdownTable(
    ['Code', 'Status', 'When'],
    Object.entries(errorCodes).map(([name, { status, meaning }]) => [
      inlineCode(name),
      status.toString(),
      meaning,
    ]),
  );
  return lazyPage({ path: 'reference/errors', title: 'Errors', summary }, () => ({
    json: { codes: errorStatus, reasons: all },
    markdown: joinBlocks('# Errors', summary, '## Codes', codes, ...all.map(section)),
  }));
}

function eventKindsPage(): ReferencePage {
  const emitters = (kind: string): string[] =>
    [...operations.values()].filter(({ emits }) => emits.some((one) => one === kind)).map(({ name }) => name);
  const rows = eventKinds.map((kind) => [inlineCode(kind), emitters(kind).map(inlineCode).join(', ')]);
  const summary =
    'All kinds of events, and the operations that cause them. Filters and webhooks also take patterns such as `story.*`; webhooks of the organization also take `audit.allowed`, `audit.denied` and `audit.*`.';
  return lazyPage({ path: 'reference/event-kinds', title: 'Kinds of events', summary }, () => ({
    json: Object.fromEntries(eventKinds.map((kind) => [kind, emitters(kind)])),
    markdown: joinBlocks('# Kinds of events', summary, markdownTable(['Event', 'Operations'], rows)),
  }));
}

/** Lists pages with their summaries. Links are relative to /reference. */
const pageTable = (pages: readonly ReferencePage[]): string =>
  markdownTable(
    ['Page', 'What it has'],
    pages.map(({ path, title, summary }) => [`[${title}](/${path})`, summary]),
  );

/** Builds all pages of the reference, the index first. */
export function referencePages(): ReferencePage[] {
  const namespaces = [...operationsByNamespace()].map(([namespace, inside]) =>
    namespacePage(namespace, inside),
  );
  const others = [recordsPage(), errorsPage(), eventKindsPage()];
  const pages = [...namespaces, ...others];
  const summary = `Version ${interfaceVersion}: ${operations.size} operations in ${namespaces.length} namespaces.`;
  const index = lazyPage({ path: 'reference', title: 'Reference', summary }, () => ({
    json: {
      version: interfaceVersion,
      pages: pages.map(({ path, title, summary: line }) => ({ path, title, summary: line })),
    },
    markdown: joinBlocks(
      '# Reference',
      summary,
      ...namespaceGroups.flatMap(({ title, namespaces: inside }) => [
        `## ${title}`,
        pageTable(namespaces.filter((one) => Object.hasOwn(inside, one.title))),
      ]),
      '## Records, errors and events',
      pageTable(others),
    ),
  }));
  return [index, ...pages];
}
