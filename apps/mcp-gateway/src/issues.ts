/** What of the parameters of a tool of ours does not fit, as the API says it of an operation. */
import { type ApiError, badRequest, type Issue } from '@muster/registry';
import { type z } from 'zod';

/** `['stories', 2, 'title']` → `stories[2].title`. */
const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

export const notAParameter = (names: readonly string[]): string =>
  `is not a parameter; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ') || 'none'}`;

export function unfit({ issues }: z.ZodError, names: readonly string[]): ApiError {
  const told = issues.flatMap((issue): Issue[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: pathOf([...issue.path, key]), message: notAParameter(names) }))
      : [{ path: pathOf(issue.path) || 'arguments', message: issue.message }],
  );
  return badRequest('The parameters do not fit.', told);
}
