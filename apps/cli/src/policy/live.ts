/** Reads the rules of an organization as they are now, and writes them as a file. */
import { type Client } from '@muster/client';
import {
  type BoardColumn,
  type Budget,
  type PolicyRecord,
  type Prompt,
  type Webhook,
} from '@muster/contract';
import { UsageError } from '@muster/terminal';
import { stringify } from 'yaml';
import { type BudgetEntry, type PolicyFile, type PromptEntry, type WebhookEntry } from './file.ts';

interface LiveProject {
  readonly id: string;
  /** The active columns from left to right. */
  readonly columns: readonly BoardColumn[];
  readonly prompts: readonly Prompt[];
  readonly webhooks: readonly Webhook[];
}

/** A budget with its target as the file names it: the key of a project or story, or the slug of an agent. */
export interface LiveBudget {
  readonly id: string;
  /** The id of the target; null for the organization. */
  readonly targetId: string | null;
  readonly entry: BudgetEntry;
}

export interface LiveRules {
  readonly policy: PolicyRecord;
  readonly budgets: readonly LiveBudget[];
  /** The slugs that agents of several members have. Such agents are named by their ids. */
  readonly sharedSlugs: ReadonlySet<string>;
  readonly prompts: readonly Prompt[];
  readonly webhooks: readonly Webhook[];
  readonly projects: ReadonlyMap<string, LiveProject>;
}

/** Reads the rules in the sections of the file. The rules of other sections are empty. */
export async function readLiveRules(client: Client, file: PolicyFile): Promise<LiveRules> {
  const listFor = async <Item>(section: unknown, list: () => AsyncIterable<Item>): Promise<Item[]> =>
    section === undefined ? [] : Array.fromAsync(list());
  const sections = Object.values(file.projects);
  const someWebhooks = [file, ...sections].find(({ webhooks }) => webhooks !== undefined);
  const [{ policy }, budgets, prompts, allWebhooks, projects, agents] = await Promise.all([
    client.policy.get({}),
    listFor(file.budgets, () => client.budgets.list.all({})),
    listFor(file.prompts, () => client.prompts.org.list.all({ includeBody: true })),
    listFor(someWebhooks, () => client.webhooks.list.all({})),
    listFor(file.budgets ?? sections[0], () => client.projects.list.all({ includeArchived: true })),
    listFor(file.budgets, () => client.agents.list.all({ includeRetired: true })),
  ]);
  const slugs = new Set<string>();
  const sharedSlugs = new Set<string>();
  for (const { slug } of agents) (slugs.has(slug) ? sharedSlugs : slugs).add(slug);
  const names = new Map([
    ...projects.map(({ id, key }) => [id, key] as const),
    ...agents.map(({ id, slug }) => [id, sharedSlugs.has(slug) ? id : slug] as const),
  ]);
  // The URL of a chat service is a secret, so the file cannot name such a webhook.
  const webhooks = allWebhooks.filter(({ format }) => format === 'standard');
  const readProject = async (key: string): Promise<readonly [string, LiveProject]> => {
    const project = projects.find((one) => one.key === key);
    if (project === undefined) throw new UsageError(`There is no project ${key}, or you may not see it.`);
    const { id } = project;
    const section = file.projects[key];
    const [columns, own] = await Promise.all([
      listFor(section?.columns, () => client.boardColumns.list.all({ projectId: id })),
      listFor(section?.prompts, () => client.prompts.project.list.all({ projectId: id, includeBody: true })),
    ]);
    return [
      key,
      { id, columns, prompts: own, webhooks: webhooks.filter(({ projectId }) => projectId === id) },
    ];
  };
  return {
    policy,
    budgets: budgets.map((budget) => ({
      ...{ id: budget.id, targetId: budget.target?.id ?? null, entry: toBudgetEntry(budget, names) },
    })),
    sharedSlugs,
    prompts,
    webhooks: webhooks.filter(({ projectId }) => projectId === null),
    projects: new Map(await Promise.all(Object.keys(file.projects).map(readProject))),
  };
}

function toBudgetEntry(budget: Budget, names: ReadonlyMap<string, string>): BudgetEntry {
  const { scope, target, amountMicros, currency, period, action } = budget;
  const entry = { scope, amountMicros, currency, period, action } as BudgetEntry;
  if (target === null) return entry;
  // The name of a story begins with its key.
  const targetId = scope === 'story' ? target.name.split(' ')[0] : names.get(target.id);
  return { ...entry, targetId: targetId ?? target.id };
}

export const toPromptEntry = ({ slug, title, body, arguments: fields, tags }: Prompt): PromptEntry => ({
  ...{ slug, title, body: body ?? '', arguments: fields, tags },
});
export const toWebhookEntry = ({ url, kinds, order, description }: Webhook): WebhookEntry => ({
  ...{ url, kinds: kinds as WebhookEntry['kinds'], order, description: description ?? '' },
});

const header = `# The rules of an organization: muster policy plan, muster policy apply.
# A section that is left out is not managed here. The signing secrets of webhooks are not part of the file.
# The URL of a webhook may itself be a secret: remove such a webhook before you share the file.
`;

/** Writes the rules as a file. Applied unchanged, it changes nothing. */
export function formatPolicyFile({ policy, budgets, prompts, webhooks, projects }: LiveRules): string {
  const { version: _, ...rules } = policy;
  const file = {
    policy: rules,
    budgets: budgets.map(({ entry: { scope, targetId, ...limit } }) => ({
      ...{ scope, ...(targetId !== undefined && { targetId }), ...limit },
    })),
    prompts: prompts.map(toPromptEntry),
    webhooks: webhooks.map(toWebhookEntry),
    projects: Object.fromEntries(
      [...projects].map(([key, project]) => [
        key,
        {
          columns: project.columns.map(({ name, status, wipLimit }) => ({ name, status, wipLimit })),
          prompts: project.prompts.map(toPromptEntry),
          webhooks: project.webhooks.map(toWebhookEntry),
        },
      ]),
    ),
  } satisfies PolicyFile;
  return header + stringify(file, { lineWidth: 0 });
}
