/** Fetches what a plan would change, with the current values on the board. */
import { type Client, BadRequestError } from '@muster/client';
import { type PlanParams } from '@muster/import-files/plan';
import { type ResultOf, type StorySummary } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { errorText } from '../components/notices.tsx';
import { type PlanNames } from './plan-diff.ts';
import { fetchStoriesById } from './queries.ts';

export interface PlanPreview {
  readonly params: PlanParams;
  readonly result: ResultOf<Registry['plans']['apply']>;
  /** The stories of the plan that exist already and are not left unchanged, by id. */
  readonly stories: ReadonlyMap<string, StorySummary>;
  readonly names: PlanNames;
}

export async function fetchPreview(client: Client, params: PlanParams): Promise<PlanPreview> {
  const { projectId } = params;
  const [result, epics] = await Promise.all([
    client.plans.apply({ ...params, mode: 'preview' }),
    Array.fromAsync(client.epics.list.all({ projectId, limit: 200 })),
  ]);
  const changed = result.changes.filter(({ action }) => action !== 'create' && action !== 'unchanged');
  const stories = await fetchStoriesById(
    client,
    projectId,
    changed.flatMap(({ storyId }) => storyId ?? []),
  );
  const refs = result.changes.flatMap(({ storyId, ref }) =>
    storyId === null ? [] : [[storyId, ref] as const],
  );
  const known = new Set(refs.map(([id]) => id));
  const related = await fetchStoriesById(
    client,
    projectId,
    [...stories.values()]
      .flatMap(({ blockedBy, parentId }) => [...blockedBy, ...(parentId === null ? [] : [parentId])])
      .filter((id) => !known.has(id)),
  );
  return {
    ...{ params, result, stories },
    names: {
      stories: new Map([...refs, ...[...related.values()].map(({ id, key }) => [id, key] as const)]),
      epics: new Map([
        ...epics.map(({ id, title }) => [id, title] as const),
        ...(params.epics ?? []).map(({ ref, title }) => [ref, title] as const),
      ]),
    },
  };
}

/** Returns a line for each problem of a plan that the API refused. It names the ref of the item. */
export function problemsOf(error: unknown, { items }: PlanParams): string[] {
  const issues = error instanceof BadRequestError ? error.body.details?.['issues'] : undefined;
  if (!Array.isArray(issues) || issues.length === 0) return [errorText(error)];
  return (issues as readonly { readonly path: string; readonly message: string }[]).map(
    ({ path, message }) => {
      const ref = items[Number(/^items\[(\d+)\]/.exec(path)?.[1] ?? NaN)]?.ref;
      return `${path}${ref === undefined ? '' : ` (${ref})`}: ${message}`;
    },
  );
}
