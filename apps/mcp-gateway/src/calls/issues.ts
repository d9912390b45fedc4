/** Describes invalid parameters of the gateway's own tools in the format that the API uses for operations. */
import { type ApiError, badRequest, type Issue, issueAt, maxIssues } from '@muster/contract';
import { type z } from 'zod';

export const unknownParameterMessage = (validNames: readonly string[]): string =>
  `is not a parameter; valid parameters: ${validNames.join(', ') || 'none'}`;

export function invalidParametersError({ issues }: z.ZodError, validNames: readonly string[]): ApiError {
  const told = issues.flatMap((issue): Issue[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => issueAt([...issue.path, key], unknownParameterMessage(validNames)))
      : [issueAt(issue.path.length === 0 ? ['arguments'] : issue.path, issue.message)],
  );
  return badRequest('The parameters are invalid.', told.slice(0, maxIssues));
}
