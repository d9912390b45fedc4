/** Validation of input against a schema of the contract. */
import { type z } from 'zod';
import { badRequest } from './api-error.ts';
import { type Issue, issueAt, maxIssues } from './errors.ts';
import { plainIssueMessages } from './issue-words.ts';

interface ParseOptions {
  /** True if messages must not repeat the names of unknown fields, because a caller may put a secret there by mistake. */
  readonly hidesUnknownNames?: boolean;
}

function toIssues(issue: z.core.$ZodIssue, { hidesUnknownNames = false }: ParseOptions): Issue[] {
  if (issue.code === 'unrecognized_keys' && hidesUnknownNames)
    return [issueAt(issue.path, 'has unknown fields')];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => issueAt([...issue.path, key], 'is not a parameter of this operation'));
  return [issueAt(issue.path, issue.message)];
}

/** Returns the parsed value. Throws 400 with an issue for each invalid field. */
export function parseWith<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  message: string,
  options: ParseOptions = {},
): Output {
  const parsed = schema.safeParse(value, plainIssueMessages);
  if (parsed.success) return parsed.data;
  throw badRequest(
    message,
    parsed.error.issues.flatMap((issue) => toIssues(issue, options)).slice(0, maxIssues),
  );
}
