/** Compares a policy file with the rules of the organization, and makes the changes that are missing. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Client } from '@muster/client';
import {
  type BoardColumn,
  isUuid,
  parseBudgetTarget,
  Policy,
  type Prompt,
  type Webhook,
} from '@muster/contract';
import { UsageError } from '@muster/terminal';
import {
  type BudgetEntry,
  type ColumnEntry,
  type PolicyFile,
  type PromptEntry,
  type WebhookEntry,
} from './file.ts';
import { type LiveRules, toPromptEntry, toWebhookEntry } from './live.ts';

interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** A change as it is shown and saved. */
export interface ChangeSummary {
  readonly action: 'create' | 'update' | 'delete' | 'reorder';
  readonly subject: string;
  readonly fields: readonly FieldChange[];
  /** The version of the record that the change expects; null if there is none. */
  readonly version: number | null;
}

/** The secret of a webhook that a change created. The API shows it only once. */
export interface NewSecret {
  readonly url: string;
  readonly webhookId: string;
  readonly secret: string;
}

/** Makes a change. Passes the secret of a new webhook to `onSecret`. */
type ApplyChange = (client: Client, onSecret: (secret: NewSecret) => Promise<void>) => Promise<unknown>;

export interface RuleChange {
  readonly summary: ChangeSummary;
  readonly apply: ApplyChange;
}

export interface PolicyComparison {
  readonly changes: readonly RuleChange[];
  /** Records in a managed section that the file does not mention. They are deleted only with prune. */
  readonly unmanaged: readonly string[];
}

const nameFields = ['slug', 'url'];
const sortIfArray = (value: unknown): unknown => (Array.isArray(value) ? value.toSorted() : value);

/**
 * Lists the wanted fields whose value differs, without the one that names the record. The order of `kinds` has
 * no meaning.
 */
const differences = (live: object, wanted: object): FieldChange[] =>
  Object.entries(wanted as Record<string, unknown>).flatMap(([field, to]) => {
    const from: unknown = (live as Record<string, unknown>)[field] ?? null;
    const isSame =
      field === 'kinds'
        ? isDeepStrictEqual(sortIfArray(from), sortIfArray(to))
        : isDeepStrictEqual(from, to ?? null);
    return isSame || nameFields.includes(field) ? [] : [{ field, from, to: to ?? null }];
  });

const wantedFields = (fields: readonly FieldChange[]) =>
  Object.fromEntries(fields.map(({ field, to }) => [field, to]));

/** Pairs entries with live records of the same name. Several of one name are paired in their order. */
function pairEntries<Entry, Live>(
  entries: readonly Entry[],
  records: readonly Live[],
  nameOfEntry: (entry: Entry) => string,
  nameOfRecord: (record: Live) => string,
): {
  readonly pairs: readonly (readonly [Entry, Live | undefined])[];
  readonly unmatchedEntries: readonly Live[];
} {
  const byName = new Map<string, Live[]>();
  for (const record of records) {
    const name = nameOfRecord(record);
    byName.set(name, [...(byName.get(name) ?? []), record]);
  }
  const pairs = entries.map((entry) => [entry, byName.get(nameOfEntry(entry))?.shift()] as const);
  return { pairs, unmatchedEntries: [...byName.values()].flat() };
}

class ChangeList {
  readonly changes: RuleChange[] = [];
  readonly unmanaged: string[] = [];
  readonly #prune: boolean;

  constructor(prune: boolean) {
    this.#prune = prune;
  }

  add(
    action: ChangeSummary['action'],
    subject: string,
    { fields = [], version = null }: { fields?: readonly FieldChange[]; version?: number | null },
    apply: ApplyChange,
  ): void {
    this.changes.push({ summary: { action, subject, fields, version }, apply });
  }

  /** Adds a deletion if the caller prunes; otherwise the record stays and is listed. */
  addRemoval(subject: string, version: number | null, apply: ApplyChange): void {
    if (this.#prune) this.add('delete', subject, { version }, apply);
    else this.unmanaged.push(subject);
  }
}

/** Compares the file with the rules. `prune` also removes what a section of the file does not mention. */
export function comparePolicy(file: PolicyFile, live: LiveRules, prune: boolean): PolicyComparison {
  const list = new ChangeList(prune);
  if (file.policy !== undefined) comparePolicyFields(list, file.policy, live);
  if (file.prompts !== undefined) comparePrompts(list, file.prompts, live.prompts);
  if (file.budgets !== undefined) compareBudgets(list, file.budgets, live);
  if (file.webhooks !== undefined) compareWebhooks(list, file.webhooks, live.webhooks);
  for (const [key, wanted] of Object.entries(file.projects)) {
    const project = live.projects.get(key);
    if (project === undefined) continue;
    const scope = { key, projectId: project.id };
    if (wanted.columns !== undefined) compareColumns(list, wanted.columns, project.columns, scope);
    if (wanted.prompts !== undefined) comparePrompts(list, wanted.prompts, project.prompts, scope);
    if (wanted.webhooks !== undefined) compareWebhooks(list, wanted.webhooks, project.webhooks, scope);
  }
  return { changes: list.changes, unmanaged: list.unmanaged };
}

interface ProjectScope {
  readonly key: string;
  readonly projectId: string;
}
const inProject = (scope: ProjectScope | undefined): string =>
  scope === undefined ? '' : ` of ${scope.key}`;

function comparePolicyFields(
  list: ChangeList,
  wanted: NonNullable<PolicyFile['policy']>,
  { policy }: LiveRules,
): void {
  const defaults: Record<string, unknown> = Policy.parse({});
  const stated = Object.entries(wanted).map(([field, value]): [string, unknown] => [
    field,
    value ?? defaults[field],
  ]);
  const fields = differences(policy, Object.fromEntries(stated));
  if (fields.length === 0) return;
  const { version } = policy;
  list.add('update', 'policy', { fields, version }, (client) =>
    client.policy.update({ ...wantedFields(fields), expectedVersion: version }),
  );
}

function comparePrompts(
  list: ChangeList,
  entries: readonly PromptEntry[],
  prompts: readonly Prompt[],
  scope?: ProjectScope,
): void {
  const { pairs, unmatchedEntries: rest } = pairEntries(
    entries,
    prompts,
    (entry) => entry.slug,
    ({ slug }) => slug,
  );
  const subjectOf = ({ slug }: { readonly slug: string }) => `prompt ${slug}${inProject(scope)}`;
  for (const [entry, prompt] of pairs) {
    const fields = differences(prompt === undefined ? {} : toPromptEntry(prompt), entry);
    if (prompt !== undefined && fields.length === 0) continue;
    const version = prompt?.version ?? null;
    const params = { ...entry, ...(version !== null && { expectedVersion: version }) };
    list.add(prompt === undefined ? 'create' : 'update', subjectOf(entry), { fields, version }, (client) =>
      scope === undefined
        ? client.prompts.org.upsert(params)
        : client.prompts.project.upsert({ projectId: scope.projectId, ...params }),
    );
  }
  for (const { slug, version } of rest)
    list.addRemoval(subjectOf({ slug }), version, (client) =>
      scope === undefined
        ? client.prompts.org.delete({ slug })
        : client.prompts.project.delete({ projectId: scope.projectId, slug }),
    );
}

function compareBudgets(
  list: ChangeList,
  entries: readonly BudgetEntry[],
  { budgets, sharedSlugs }: LiveRules,
): void {
  const names = new Map(budgets.map(({ targetId, entry }) => [targetId, entry.targetId]));
  /** Names a budget by target and period. A target that has a budget has the same name by id and by key. */
  const nameOf = ({ scope, targetId, period }: BudgetEntry): string => {
    const ref = scope === 'org' ? undefined : parseBudgetTarget(scope, targetId);
    if (scope === 'agent' && sharedSlugs.has(ref ?? ''))
      throw new UsageError(`${ref} is the slug of several agents: name the agent of the budget by its id.`);
    const target =
      names.get(ref ?? null) ?? (isUuid(ref ?? '') || scope === 'agent' ? ref : ref?.toUpperCase());
    return ['budget of', scope, ...(target === undefined ? [] : [target]), `per ${period}`].join(' ');
  };
  const { pairs, unmatchedEntries: rest } = pairEntries(entries, budgets, nameOf, ({ entry }) =>
    nameOf(entry),
  );
  for (const [entry, budget] of pairs) {
    const { scope: _, targetId: _target, period: _period, ...limit } = entry;
    const fields = differences(budget?.entry ?? {}, limit);
    if (budget !== undefined && fields.length === 0) continue;
    list.add(budget === undefined ? 'create' : 'update', nameOf(entry), { fields }, (client) =>
      client.budgets.set(entry),
    );
  }
  for (const { id, entry } of rest)
    list.addRemoval(nameOf(entry), null, (client) => client.budgets.delete({ budgetId: id }));
}

function compareWebhooks(
  list: ChangeList,
  entries: readonly WebhookEntry[],
  webhooks: readonly Webhook[],
  scope?: ProjectScope,
): void {
  const { pairs, unmatchedEntries: rest } = pairEntries(
    entries,
    webhooks,
    (entry) => entry.url,
    ({ url }) => url,
  );
  // The URL may be a secret, so it is shown as its host and a digest.
  const subjectOf = ({ url }: { readonly url: string }) =>
    `webhook ${new URL(url).host} (${createHash('sha256').update(url).digest('hex').slice(0, 8)})${inProject(scope)}`;
  for (const [entry, webhook] of pairs) {
    if (webhook === undefined) {
      const { url } = entry;
      const params = { ...entry, ...(scope !== undefined && { projectId: scope.projectId }) };
      list.add('create', subjectOf(entry), { fields: differences({}, entry) }, async (client, onSecret) => {
        const { webhook: created, secret } = await client.webhooks.create(params);
        await onSecret({ url, webhookId: created.id, secret });
      });
      continue;
    }
    const fields = differences(toWebhookEntry(webhook), entry);
    if (fields.length === 0) continue;
    const { id: webhookId, version } = webhook;
    list.add('update', subjectOf(entry), { fields, version }, (client) =>
      client.webhooks.update({ webhookId, ...wantedFields(fields), expectedVersion: version }),
    );
  }
  for (const { id, url, version } of rest)
    list.addRemoval(subjectOf({ url }), version, (client) => client.webhooks.delete({ webhookId: id }));
}

/** A column of the board after the change. Its id is unknown until it is created. */
interface PlannedColumn {
  readonly name: string;
  id: string | undefined;
}

function compareColumns(
  list: ChangeList,
  entries: readonly ColumnEntry[],
  columns: readonly BoardColumn[],
  { key, projectId }: ProjectScope,
): void {
  const { pairs, unmatchedEntries: rest } = pairEntries(
    entries,
    columns,
    ({ name }) => name,
    ({ name }) => name,
  );
  const board: PlannedColumn[] = columns.map(({ id, name }) => ({ id, name }));
  const managed: PlannedColumn[] = [];
  for (const [{ name, status, wipLimit }, column] of pairs) {
    const subject = `column ${name} of ${key}`;
    const before = managed.at(-1);
    if (column === undefined) {
      const planned: PlannedColumn = { name, id: undefined };
      board.splice(before === undefined ? board.length : board.indexOf(before) + 1, 0, planned);
      managed.push(planned);
      const fields = differences({}, { status, wipLimit });
      list.add('create', subject, { fields }, async (client) => {
        const { column: created } = await client.boardColumns.create({
          ...{ projectId, name, status, ...(wipLimit !== null && { wipLimit }) },
          ...(before?.id !== undefined && { afterColumnId: before.id }),
        });
        planned.id = created.id;
      });
      continue;
    }
    managed.push(board.find(({ id }) => id === column.id) ?? { name, id: column.id });
    if (column.status !== status)
      throw new UsageError(
        `The ${subject} has the status ${column.status}. The status of a column cannot be changed to ${status}: give the new column another name.`,
      );
    const fields = differences({ wipLimit: column.wipLimit }, { wipLimit });
    if (fields.length === 0) continue;
    const { id: columnId, version } = column;
    list.add('update', subject, { fields, version }, (client) =>
      client.boardColumns.update({ columnId, wipLimit, expectedVersion: version }),
    );
  }
  compareOrder(list, board, managed, { key, projectId });
  for (const { id, name, version } of rest)
    list.addRemoval(`column ${name} of ${key}`, version, (client) =>
      client.boardColumns.archive({ columnId: id }),
    );
}

/** Puts the managed columns in the order of the file. Other columns keep their places. */
function compareOrder(
  list: ChangeList,
  board: readonly PlannedColumn[],
  managed: readonly PlannedColumn[],
  { key, projectId }: ProjectScope,
): void {
  const queue = [...managed];
  const wanted = board.map((column) => (managed.includes(column) ? (queue.shift() ?? column) : column));
  if (wanted.every((column, index) => column === board[index])) return;
  const names = (some: readonly PlannedColumn[]) => some.map(({ name }) => name);
  const fields = [{ field: 'order', from: names(board), to: names(wanted) }];
  list.add('reorder', `columns of ${key}`, { fields }, (client) =>
    client.boardColumns.reorder({ projectId, columnIds: wanted.flatMap(({ id }) => id ?? []) }),
  );
}
