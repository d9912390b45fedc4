/** Reads a GitHub project. Its columns are the status values of its items. */
import { z } from 'zod';
import { type ImportDraft, type OpenedFile, type ParsedItem } from '../draft.ts';
import { isObject, listUnreadFields } from '../unread.ts';
import {
  isPullRequestUrl,
  getMilestoneDueDate,
  listUnimportedMilestoneFields,
  parseIssueReference,
} from './github-reference.ts';
import { parseEach } from './json.ts';

const Content = z.looseObject({
  type: z.string(),
  title: z.string().nullish(),
  body: z.string().nullish(),
  number: z.number().nullish(),
  url: z.string().nullish(),
});
const Item = z.looseObject({
  id: z.string(),
  title: z.string().nullish(),
  status: z.string().nullish(),
  labels: z.array(z.string()).nullish(),
  assignees: z.array(z.string()).nullish(),
  milestone: z.union([z.string(), z.looseObject({ title: z.string() })]).nullish(),
  estimate: z.number().nullish(),
  priority: z.string().nullish(),
  content: Content,
});
type Item = z.infer<typeof Item>;

const knownItemFields = new Set([...Object.keys(Item.shape), 'repository', 'linked pull requests']);
const knownContentFields = new Set([...Object.keys(Content.shape), 'repository', 'id']);

function toImportedStory(item: Item): ImportDraft {
  const { content, labels, assignees, milestone } = item;
  const reference = parseIssueReference(content.url);
  const epic = isObject(milestone) ? (milestone as { title: string }).title : milestone;
  return {
    place:
      content.number == null ? `draft "${content.title ?? item.title ?? ''}"` : `issue ${content.number}`,
    externalId: reference ?? item.id,
    url: content.url ?? undefined,
    title: content.title ?? item.title ?? '',
    description: content.body ?? undefined,
    status: item.status ?? undefined,
    priority: item.priority ?? undefined,
    estimate: item.estimate ?? undefined,
    labels: labels ?? [],
    epic:
      epic == null || epic === ''
        ? undefined
        : {
            ...{ externalId: `milestone ${epic}`, title: epic },
            targetDate: isObject(milestone) ? getMilestoneDueDate(milestone) : undefined,
          },
    assignees: assignees ?? [],
    unimportedFields: [
      ...listUnreadFields(item, knownItemFields).map((field) => `field ${field}`),
      ...listUnreadFields(content, knownContentFields),
      ...(isObject(milestone) ? listUnimportedMilestoneFields(milestone) : []),
    ],
  };
}

export function openGithubProject(rawItems: readonly unknown[], totalCount: unknown): OpenedFile {
  const items = parseEach(rawItems, Item, 'item of a GitHub project');
  const missing = typeof totalCount === 'number' ? totalCount - items.length : 0;
  return {
    notes:
      missing > 0
        ? [
            `The file ends after ${items.length} of ${items.length + missing} items; raise --limit of the gh command.`,
          ]
        : [],
    async *read(): AsyncGenerator<ParsedItem> {
      for (const item of items) {
        if (item.content.type === 'PullRequest' || isPullRequestUrl(item.content.url)) {
          yield { place: `pull request ${item.content.number ?? item.id}`, skipped: 'pull request' };
        } else yield { draft: toImportedStory(item) };
      }
    },
  };
}
