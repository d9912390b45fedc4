/**
 * The file of `muster policy`: the rules of an organization as YAML. Its fields have the names that the API
 * gives them. A section that the file omits is not managed by the file.
 */
import { isBudgetTarget, plainIssueMessages, ProjectKey } from '@muster/contract';
import { registry } from '@muster/registry';
import { sanitizeToOneLine, UsageError } from '@muster/terminal';
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';

const { boardColumns, budgets, policy, prompts, webhooks } = registry;
const columnFields = boardColumns.create.params.shape;

const PromptEntry = prompts.org.upsert.params.omit({ expectedVersion: true });
const WebhookEntry = webhooks.create.params.omit({ projectId: true, format: true });
const ColumnEntry = z.strictObject({
  name: columnFields.name,
  status: columnFields.status,
  wipLimit: columnFields.wipLimit.unwrap().nullable().default(null),
});
const BudgetEntry = z.strictObject(budgets.set.params.shape).refine(isBudgetTarget, {
  error: 'must name the record that scope says, and nothing for the scope org',
  path: ['targetId'],
});

/** Refuses a list in which two entries have the same name. */
const uniqueBy = <Entry extends z.ZodType>(entry: Entry, nameOf: (value: z.output<Entry>) => string) =>
  z.array(entry).superRefine((entries, context) => {
    const seen = new Set<string>();
    for (const [index, value] of entries.entries()) {
      const name = nameOf(value);
      if (seen.has(name)) context.addIssue({ code: 'custom', message: 'is listed twice', path: [index] });
      seen.add(name);
    }
  });
const PromptEntries = uniqueBy(PromptEntry, ({ slug }) => slug).optional();
const WebhookEntries = z.array(WebhookEntry).optional();

export const PolicyFile = z.strictObject({
  policy: policy.update.params.omit({ expectedVersion: true }).optional(),
  budgets: uniqueBy(BudgetEntry, ({ scope, targetId, period }) =>
    JSON.stringify([scope, targetId, period]),
  ).optional(),
  prompts: PromptEntries,
  webhooks: WebhookEntries,
  projects: z
    .record(
      ProjectKey,
      z.strictObject({
        columns: z.array(ColumnEntry).optional(),
        prompts: PromptEntries,
        webhooks: WebhookEntries,
      }),
    )
    .default({}),
});
export type PolicyFile = z.output<typeof PolicyFile>;
export type PromptEntry = z.output<typeof PromptEntry>;
export type WebhookEntry = z.output<typeof WebhookEntry>;
export type ColumnEntry = z.output<typeof ColumnEntry>;
export type BudgetEntry = z.output<typeof BudgetEntry>;

/** Parses the file. Throws UsageError with all problems, each with its line. */
export function parsePolicyFile(name: string, text: string): PolicyFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  if (document.errors.length > 0)
    throw new UsageError(document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message}`).join('\n'));
  const parsed = PolicyFile.safeParse(document.toJS() ?? {}, plainIssueMessages);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return [`${at(offsetOf(document.contents, issue.path))}: ${issue.path.join('.')} ${issue.message}`];
    return issue.keys.map((key) => {
      const path = [...issue.path, key];
      return `${at(offsetOf(document.contents, path))}: ${path.join('.')} is not a known field`;
    });
  });
  throw new UsageError(problems.map(sanitizeToOneLine).join('\n'));
}

/** Returns the place of the node with this path in the text, or of the nearest node around it. */
function offsetOf(root: Node | null, path: readonly PropertyKey[]): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return offset;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
