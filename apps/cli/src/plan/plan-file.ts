/** Reads the parameters of plans.apply from a file and the flags of the command. */
import path from 'node:path';
import {
  planNameOf,
  type PlanParams,
  readPlanDocument,
  UnreadableFileError,
} from '@muster/import-files/plan';
import { registry } from '@muster/registry';
import { UsageError } from '@muster/terminal';

/** The values that the command line gives; they take precedence over the file. */
export interface PlanFileFlags {
  readonly project?: string | undefined;
  readonly ref?: string | undefined;
}

/** Parses the text of a plan. Throws UsageError with all problems that the contract finds in it. */
export function parsePlanFile(file: string, text: string, flags: PlanFileFlags): PlanParams {
  const stated = readDocument(file, text);
  const params = {
    ...stated,
    ...{
      projectId: flags.project ?? stated.projectId,
      planRef: flags.ref ?? stated.planRef ?? (file === '-' ? undefined : planNameOf(path.resolve(file))),
    },
  };
  if (params.projectId === undefined) throw new UsageError(`${file} names no project: use --project`);
  if (params.planRef === undefined) throw new UsageError(`${file} has no name for the plan: use --ref`);
  const parsed = registry.plans.apply.params.safeParse(params);
  if (parsed.success) return params as PlanParams;
  const issues = parsed.error.issues.map(
    ({ path: at, message }) => `  ${describePlanPath(params.items, at)}: ${message}`,
  );
  throw new UsageError(`${file} is no valid plan:\n${issues.join('\n')}`);
}

function readDocument(file: string, text: string) {
  try {
    return readPlanDocument(text, file);
  } catch (error) {
    throw error instanceof UnreadableFileError ? new UsageError(`${file}: ${error.message}`) : error;
  }
}

/** Names the place of a problem. The ref of the item is part of it, because positions are hard to find in a long file. */
function describePlanPath(items: readonly unknown[], path: readonly PropertyKey[]): string {
  const [list, place] = path;
  const item = list === 'items' ? items[Number(place)] : undefined;
  const ref = typeof item === 'object' && item !== null && 'ref' in item ? ` (${String(item.ref)})` : '';
  return `${path.join('.')}${ref}`;
}
