/** Parameters against the contract, with every field that does not fit named. */
import { badRequest, inPlainWords, type Issue, issueAt, mostIssues, type Operation } from '@muster/registry';
import { type z } from 'zod';

function toIssue(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => issueAt([...issue.path, key], 'is not a parameter of this operation'));
  }
  return [issueAt(issue.path, issue.message)];
}

/** What the schema makes of the value, or a 400 with every field that does not fit. */
export function parseWith<Output>(schema: z.ZodType<Output>, value: unknown, message: string): Output {
  const parsed = schema.safeParse(value, inPlainWords);
  if (parsed.success) return parsed.data;
  throw badRequest(message, parsed.error.issues.flatMap(toIssue).slice(0, mostIssues));
}

/** The parsed parameters, or a 400. */
export const parseParams = (operation: Operation, params: unknown): Record<string, unknown> =>
  parseWith(operation.params, params, `The parameters of ${operation.name} do not fit.`);
