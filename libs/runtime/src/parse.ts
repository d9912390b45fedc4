/** Parameters against the contract, with every field that does not fit named. */
import { badRequest, type Issue, type Operation } from '@muster/registry';
import { type z } from 'zod';

/** `['stories', 2, 'title']` → `stories[2].title`. */
const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

/** More than this many would only repeat themselves. */
const mostIssues = 20;

function toIssue(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: pathOf([...issue.path, key]).slice(0, 200),
      message: 'is not a parameter of this operation',
    }));
  }
  return [{ path: pathOf(issue.path).slice(0, 200), message: issue.message }];
}

/** What the schema makes of the value, or a 400 with every field that does not fit. */
export function parseWith<Output>(schema: z.ZodType<Output>, value: unknown, message: string): Output {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badRequest(message, parsed.error.issues.flatMap(toIssue).slice(0, mostIssues));
}

/** The parsed parameters, or a 400. */
export const parseParams = (operation: Operation, params: unknown): Record<string, unknown> =>
  parseWith(operation.params, params, `The parameters of ${operation.name} do not fit.`);
